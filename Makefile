# Every target sets itself up: the first one called makes .venv and installs the project into it. PYTHON=python3.12 makes
# it anew with another Python; without it the one that is there stays.
PYTHON ?= $(if $(wildcard .venv/bin/python),.venv/bin/python,python3)
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
BIN := .venv/bin
INSTALLED := .venv/.installed-$(VERSION)

# The data sets, where they lie beside the checkout.
ifneq ($(wildcard ../shared/data),)
export AMMI_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test browser torture lint format bench paper docs clean

demo: $(INSTALLED)
	$(BIN)/ammi demo

# Two processes of one thread each use two cores better than one process of two threads. The Ray cluster of tests/scale is
# started once, by a job of its own beside them, which waits most of its time; what it says is shown at the end.
test: $(INSTALLED) browser
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/scale > .venv/ray-tests.log 2>&1 & ray=$$!; \
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --ignore tests/scale; others=$$?; \
	wait $$ray; ray=$$?; cat .venv/ray-tests.log; exit $$(( ray | others ))

# The tests of the page need Chromium: it is installed where that can be done, and said to be missing where it cannot.
browser: $(INSTALLED)
	@$(BIN)/python -m tests.chromium

# Kills, power losses, flipped bits, full disks and generated inputs, for about two hours; the table is docs/reliability.md.
torture: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.torture

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED)
	for script in $$(grep -l __main__ benchmarks/*.py); do $(BIN)/python $$script || failed=1; done; exit $${failed:-0}

# Every table and figure of the paper: hours without results/paper, a minute with it.
paper: $(INSTALLED)
	$(BIN)/ammi paper --markdown docs/paper.md

docs: $(INSTALLED)
	$(BIN)/python docs/embed.py
	$(BIN)/python -m ammi.cli.reference > docs/commands.md

clean:
	rm -rf .venv

$(INSTALLED): pyproject.toml constraints.txt
	test -d $(BIN) && $(BIN)/python -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "$(VERSION)")' \
		|| $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@
