from tests.golden import write_missing

write_missing()
