# Every target sets itself up: the first one called makes .venv and installs the project into it.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test lint format bench paper docs clean

demo: $(INSTALLED)
	$(BIN)/ammi demo

# Two processes of one thread each use two cores better than one process of two threads.
test: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED)
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

# Every table and figure of the paper: hours without results/paper, a minute with it.
paper: $(INSTALLED)
	$(BIN)/ammi paper --markdown docs/paper.md

docs: $(INSTALLED)
	$(BIN)/python -m ammi.cli.reference > docs/commands.md

clean:
	rm -rf .venv

$(INSTALLED): pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@
