"""What it cost: the sum of all files, processor time where it was kept."""

from ammi.files import write_json
from reproduction.costs import costs_section
from reproduction.folder import PaperFolder
from tests.paper.made_up import MACHINE, SCALE, all_experiments, all_searches


def test_costs_are_the_sum_of_all_files(complete):
    text = "\n\n".join(costs_section(complete))
    plan = complete.plan()
    trials, runs = 3 * len(all_searches(plan)), len({experiment.path for experiment in all_experiments(plan)})
    assert f"{trials} trials in {trials / 2:.2f} hours and {runs} runs in {runs / 2:.2f} hours" in text
    assert "| ng20 | DVQ | 3 | 1 | 71.00 | 1 | 1.50 | batch\\_size 32 |" in text
    assert r"Machine: a \| b, 2 cores, Python 3.11, ammi 0.1. Runs of 2020-01-01." in text


def test_processor_time_counts_before_the_clock(tmp_path):
    folder = PaperFolder(tmp_path, SCALE)
    write_json(tmp_path / "runs" / "ng20" / "one.json", {"fit_s": 36000.0, "fit_cpu_s": 3600.0, **MACHINE})
    write_json(tmp_path / "runs" / "ng20" / "two.json", {"fit_s": 7200.0, **MACHINE, "date": "2020-01-03"})
    text = "\n\n".join(costs_section(folder))
    assert "0 trials in under 0.01 hours and 2 runs in 3.00 hours" in text
    assert "Runs of 2020-01-01 to 2020-01-03." in text
    assert "No search was run yet: `ammi paper table1`." in text
