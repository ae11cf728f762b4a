# From a bare machine: `make train` trains an agent, `make test` runs the test suite; `make` lists the targets.
# PYTHON is Python 3.11 to 3.14; everything is installed into .venv.
# ALGORITHM is a script in baselines/training: value, ppo, alphazero or maskable_ppo.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
GAME ?= sudoku_moyo
ALGORITHM ?= value
RUN ?=
PLIES ?= 1000000
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help train data test lint docs bench bench-peers crosscheck mutants test-all test-oldest test-newest \
	test-integrations test-ray test-browser test-notebook test-load test-course test-package release-check \
	constraints clean

help:  ## this list
	@awk -F ':.*  ## ' '/^[a-z-]+:.*  ## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile
	@echo "RUN passes options to the program: make train RUN=--help. PYTHON names another Python."

train: $(VENV)/.train  ## train an agent: GAME=abalone ALGORITHM=ppo RUN="--steps 300000"
	$(BIN)/python -m azumaya.baselines.training.$(ALGORITHM) --game $(GAME) $(RUN)

data: $(VENV)/.dev  ## games and the exam of a game as Parquet files: GAME=abalone
	mkdir -p runs
	$(BIN)/azumaya export games champion random --game $(GAME) --pairs 1000 --seed 1 --output runs/$(GAME)-games
	$(BIN)/azumaya export exams --game $(GAME) --part public --output runs/$(GAME)-exam

test: $(VENV)/.dev  ## the test suite
	$(BIN)/python tests/run.py $(RUN)

lint: $(VENV)/.dev  ## style and types, and every game on the core install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/check_wheel.py

docs: $(VENV)/.dev  ## the documentation, into docs/_build/html
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

bench: $(VENV)/.dev  ## how fast this machine is
	$(BIN)/azumaya bench $(RUN)

bench-peers: $(VENV)/.dev  ## the same beside other libraries
	$(BIN)/azumaya bench peers $(RUN)

crosscheck: $(VENV)/.dev  ## rules against the naive oracles: PLIES=1000000
	$(BIN)/python -m tests.oracles.crosscheck --game all --plies $(PLIES) --jobs 2 $(RUN)

mutants: $(VENV)/.dev  ## random faults in the code: does the suite find them?
	$(BIN)/python -m tests.mutants $(RUN)

# Tests on Ray are skipped here, and said to be; `make test-ray` runs them.
test-all: $(VENV)/.dev  ## and what takes hours: bounds checks, plain Python, long tests
	$(BIN)/python tests/run.py all $(RUN)

CORE_TESTS := pytest pytest-xdist hypothesis

# The core dependencies in the oldest versions allowed, and in the newest available.
test-oldest: $(VENV)-oldest/.core  ## the core with the oldest dependencies allowed (Python 3.11 or 3.12)
	$(VENV)-oldest/bin/python tests/run.py core

test-newest: $(VENV)-newest/.core  ## the core with the newest dependencies
	$(VENV)-newest/bin/python tests/run.py core

# What survives the death of a node of Ray, in an environment of its own. Without Ray it fails.
test-ray: $(VENV)-ray/.ray  ## a league and training on Ray
	$(VENV)-ray/bin/python -c "import ray.cluster_utils"
	$(VENV)-ray/bin/python -m pytest -m slow -k node_ tests/league/test_league_on_ray.py \
		tests/baselines/test_crews.py $(RUN)

CHROMIUM := command -v chromium || { apt-get update -qq && apt-get install -y -qq chromium; } \
	|| { echo "install Chromium first, so that the command 'chromium' is found"; exit 1; }

# The board in a real browser: Debian's Chromium, installed here if it can be, driven by Playwright.
test-browser: $(VENV)/.browser  ## the board in Chromium
	AZUMAYA_BROWSER_TESTS=1 $(BIN)/python -m pytest tests/browser $(RUN)

# The board in JupyterLab, in an environment of its own.
test-notebook: $(VENV)-notebook/.lab  ## the board in JupyterLab
	AZUMAYA_BROWSER_TESTS=1 $(VENV)-notebook/bin/python -m pytest tests/browser/test_notebook.py $(RUN)

# A server on this machine under load. RUN: --requests 1000000, --games N, --pause SECONDS
test-load: $(VENV)/.dev  ## the server under load
	$(BIN)/python -m tests.serve.load $(RUN)

$(VENV)/.browser: $(VENV)/.dev
	$(CHROMIUM)
	$(BIN)/python -m pip install -q -c constraints.txt playwright
	touch $@

$(VENV)-notebook/.lab: pyproject.toml constraints.txt
	$(CHECK_PYTHON)
	$(CHROMIUM)
	$(PYTHON) -m venv --clear $(VENV)-notebook
	$(VENV)-notebook/bin/python -m pip install -q -c constraints.txt -e ".[notebook]" \
		$(CORE_TESTS) playwright "jupyterlab>=4.4,<5"
	touch $@

# The course's notebooks, run from start to end with the solutions of their exercises.
test-course: $(VENV)/.dev  ## the notebooks of the course
	$(BIN)/python -m tests.course.notebooks runs/course
	$(BIN)/python -m pytest --nbmake --nbmake-timeout=600 --durations=0 runs/course $(RUN)

# The sdist and the wheel: built, compared, installed in an empty environment and tried.
test-package: $(VENV)/.dev  ## the sdist and the wheel
	$(BIN)/python -m tests.check_package

# What an index, pip and, if it is installed, uv see; nothing is uploaded.
release-check: $(VENV)/.dev  ## a dry run of a release
	$(BIN)/python -m tests.check_release

# Other libraries, each in an environment of its own. RUN: names, --place FOLDER, --remove
test-integrations: $(VENV)/.dev  ## examples with other libraries
	$(BIN)/python -m tests.integrations $(RUN)

CHECK_PYTHON = @$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' \
	|| { echo "Python 3.11 to 3.14 is needed (PettingZoo allows no later one), which $(PYTHON)" \
	"is not: make PYTHON=/path/to/python3.14 ..."; exit 1; }

$(VENV)/bin/python:
	$(CHECK_PYTHON)
	$(PYTHON) -m venv $(VENV)

# torch comes first and alone, so that no other package's requirement decides its version.
$(VENV)/.train: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt torch
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[train]"
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt torch
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[dev]"
	touch $@

$(VENV)-ray/.ray: pyproject.toml constraints.txt
	$(CHECK_PYTHON)
	$(PYTHON) -m venv --clear $(VENV)-ray
	$(VENV)-ray/bin/python -m pip install -q -c constraints.txt torch
	$(VENV)-ray/bin/python -m pip install -q -c constraints.txt -e ".[ray,train]" $(CORE_TESTS)
	touch $@

$(VENV)-oldest/.core: pyproject.toml tests/integrations/oldest.txt
	$(CHECK_PYTHON)
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install -q -c tests/integrations/oldest.txt -e . $(CORE_TESTS)
	touch $@

# Recreated each time, because new versions appear without a change here.
.PHONY: $(VENV)-newest/.core
$(VENV)-newest/.core:
	$(CHECK_PYTHON)
	$(PYTHON) -m venv --clear $(VENV)-newest
	$(VENV)-newest/bin/python -m pip install -q -e . $(CORE_TESTS)

# Packages that .venv may lack, because only `make test-browser` and `make test-ray` install them:
# unless it has them, their pins stay as they are.
ELSEWHERE := playwright|greenlet|ray|msgpack

constraints: $(VENV)/.dev  ## write the installed versions to constraints.txt
	{ $(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu//'; \
		grep -E '^($(ELSEWHERE))==' constraints.txt; } > .constraints.found
	{ head -1 constraints.txt; awk -F== '!seen[tolower($$1)]++' .constraints.found \
		| LC_ALL=C sort -f -t= -k1,1; } > .constraints.new
	mv .constraints.new constraints.txt
	rm .constraints.found

clean:  ## delete .venv and all other environments, and what was built
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-newest $(VENV)-notebook $(VENV)-ray .venv-ci build dist \
		docs/_build docs/_generated *.egg-info src/*.egg-info
