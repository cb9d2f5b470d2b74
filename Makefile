# Every target sets itself up: `make demo` makes .venv and installs the plain package into it, and whatever needs the
# tools of a developer adds them there. PYTHON=python3.12 makes .venv anew with another Python.
PYTHON ?= $(if $(wildcard .venv/bin/python),.venv/bin/python,python3)
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
BIN := .venv/bin
CORE := .venv/.core-$(VERSION)
DEV := .venv/.dev-$(VERSION)
# Compiled modules are kept, whatever the environment says: the tests start some 200 processes.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest

# The data sets, if they are beside the checkout.
ifneq ($(wildcard ../shared/data),)
export AMMI_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test fast browser torture extras lint format bench paper notebooks docs audit dist clean

demo: $(CORE)
	$(BIN)/ammi demo

# Three processes of one thread each for two cores, since many tests wait for a server or a browser. The Ray cluster of
# tests/scale is started once, by a job of its own that mostly waits; its output follows that of the others. The kernels
# are compiled before, once for all processes. Tests that failed are run once more, alone: what fails again is a fault,
# what passes then depends on how busy the machine is, and is a fault of the test.
test: $(DEV) browser
	@$(BIN)/python -m tests.compiled
	@$(PYTEST) tests/scale > .venv/ray-tests.log 2>&1 & ray=$$!; \
	$(PYTEST) -n 3 --dist worksteal --ignore tests/scale; others=$$?; \
	if [ $$others = 1 ]; then echo "Once more, alone:"; $(PYTEST) --last-failed --ignore tests/scale; others=$$?; fi; \
	wait $$ray; ray=$$?; cat .venv/ray-tests.log; exit $$(( ray | others ))

# All tests that need no server, no browser and little time: 90 s on two cores.
fast: $(DEV)
	@$(BIN)/python -m tests.compiled
	$(PYTEST) -n 2 --dist worksteal --hypothesis-profile fast -m "not servers and not browser and not slow"

# The tests of the page need Chromium: install it if possible, otherwise say that it is missing.
browser: $(DEV)
	@$(BIN)/python -m tests.chromium

# Kills, power losses, flipped bits, full disks and generated inputs, for about three hours: the table of docs/reliability.md.
torture: $(DEV)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.torture

# Each extra alone in an empty environment, and the steps of the Dockerfile, for half an hour: its table is printed, and
# kept in benchmarks/results/extras.json.
extras: $(DEV)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.extras

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV)
	for script in $$(grep -l __main__ benchmarks/*.py); do $(BIN)/python $$script || failed=1; done; exit $${failed:-0}

# Every table and figure of the paper: hours without results/paper, a minute with it.
paper: $(DEV)
	$(BIN)/ammi paper --markdown docs/paper.md

# Run the notebooks of docs/ anew and keep their outputs, in about a minute.
notebooks: $(DEV)
	$(BIN)/jupyter-nbconvert --to notebook --execute --inplace --log-level WARN \
		--ExecutePreprocessor.record_timing=False --ExecutePreprocessor.coalesce_streams=True \
		docs/notebooks/*.ipynb

# Write the generated parts of docs/, and build the site into build/site; a broken link or anchor is an error.
docs: $(DEV)
	$(BIN)/python docs/embed.py
	$(BIN)/python docs/command_reference.py > docs/commands.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open build/site/index.html"

# requirements.lock, with a hash of every file; and of what is installed in .venv the licences, and a list of parts in
# CycloneDX's format. The tools have an environment of their own, so that they are not on the lists.
audit: $(CORE)
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet -c constraints.txt cyclonedx-bom pip-licenses uv
	build/audit/bin/uv pip compile --quiet -c constraints.txt pyproject.toml --output-file requirements.lock
	build/audit/bin/pip-licenses --python $(BIN)/python --format markdown --output-file build/licences.md
	build/audit/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file build/sbom.json $(BIN)/python

# What is published of a tag, checked, in dist/: make dist TAG=v0.2.0. The wheel is built from the sdist.
dist:
	$(PYTHON) -m tests.release '$(TAG)'
	$(PYTHON) -m venv build/dist
	build/dist/bin/python -m pip install --quiet -c constraints.txt build twine
	rm -rf dist
	build/dist/bin/python -m build --outdir dist
	build/dist/bin/twine check --strict dist/*

clean:
	rm -rf .venv

# Modules are compiled when they are first imported: compiling all of torch would take longer than the demo.
define install
	test -d $(BIN) && $(BIN)/python -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "$(VERSION)")' \
		|| $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e '$(1)'
	touch $(2)
endef

$(CORE): pyproject.toml constraints.txt
	$(call install,.,$(CORE))

$(DEV): pyproject.toml constraints.txt
	$(call install,.[dev],$(CORE) $(DEV))
