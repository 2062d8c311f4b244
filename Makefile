# Everything runs from a fresh checkout; `make help` says what there is.
# Two variables: PYTHON (the interpreter to start from), BACKEND (where the demo runs).

PYTHON ?= python3
BACKEND ?= cpu
VENV := .venv
FRAMEWORKS_VENV := .venv-frameworks
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
MYPY := $(BIN)/mypy --no-error-summary

# their packages are in a virtual environment of their own, as PyTorch fixes the version of NVRTC
FRAMEWORK_TESTS := tests/pytorch tests/jax tests/dask tests/ray tests/communication tests/aot/test_jax.py tests/aot/test_tvm_ffi.py
# tests that make test and make test-slow leave to targets of their own
APART := $(FRAMEWORK_TESTS:%=--ignore=%) --ignore=tests/site

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-frameworks test-site screenshots test-all check golden docs site fuzz mutants bench gpu sanitize clean
.NOTPARALLEL:  # tests use all processors

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null \
	  || sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1: \2/p' Makefile

demo: $(VENV)/.demo  ## run the examples on this machine's CPU; shows the CUDA C, checks the results, draws pictures
	@mkdir -p out
	@for example in edges heat reduction; do \
	  echo "==== examples/$$example.py ===="; \
	  $(BIN)/python examples/$$example.py --backend $(BACKEND) || exit 1; echo; \
	done
	@echo "The pictures are in out/."

test: $(VENV)/.test  ## a sample of the test suite: each golden text, some cases of each test
	@$(BIN)/python -m pytest -q -n auto -m "not slow" $(APART)

test-slow: $(VENV)/.test  ## the tests that make test leaves out
	@$(BIN)/python -m pytest -q -n auto -m slow $(APART)

test-frameworks: $(FRAMEWORKS_VENV)/.ready  ## the tests with PyTorch, JAX, TVM-FFI, Dask, Ray and MPI, in a virtual environment of their own
	@CI=1 $(FRAMEWORKS_VENV)/bin/python -m pytest -q $(filter-out tests/ray,$(FRAMEWORK_TESTS)) tests/test_docstrings.py
	@CI=1 $(FRAMEWORKS_VENV)/bin/python -m pytest -q tests/ray  # forks, which JAX in the process forbids

test-site: site  ## the site in a browser (Chromium); screenshots are in build/screenshots
	@CI=1 $(BIN)/python -m pytest -q tests/site

screenshots: test-site  ## the pictures of the site in README.md and the guide, in docs/static
	@$(BIN)/python docs/generators/screenshots.py

test-all: test test-slow check  ## the whole test suite, then ruff and mypy

check: $(VENV)/.test  ## ruff, mypy, and zizmor for the workflows
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@for system in linux darwin win32; do $(MYPY) --platform $$system --cache-dir .mypy_cache/$$system || exit 1; done
	@$(BIN)/zizmor --quiet --offline .github
	@echo "ruff, mypy and zizmor: clean"

golden: $(VENV)/.test  ## write the golden files anew; fails if one changed, so that you read the diff
	@$(BIN)/python -m pytest -q -n auto -m golden --update-golden

docs: $(VENV)/.test  ## run every Python block of README.md and docs/
	@$(BIN)/python -m pytest -q tests/test_docs.py

site: $(VENV)/.site  ## the documentation as a site, in build/site; runs the gallery; needs graphviz (dot)
	@command -v dot >/dev/null || { echo "make site needs graphviz: apt-get install graphviz"; exit 1; }
	@PYCU2C_BACKEND=cpu $(BIN)/python -m sphinx -q -W --keep-going -b html docs build/site
	@echo "the site is build/site/index.html"

N ?= 1000
SEED ?= 0
TARGET ?= cpu

fuzz: $(VENV)/.test  ## compare N random kernels with the reference: N=1000 SEED=0 TARGET=cpu (or python, cpu-resumable, narrowed, cuda, nvrtc)
	@PYTHONPATH=tests $(BIN)/python -m fuzzing -n $(N) --seed $(SEED) --target $(TARGET)

mutants: $(VENV)/.test  ## plant the faults of tests/mutants, one at a time; fails if tests and random kernels miss one
	@PYTHONPATH=src:tests $(BIN)/python -m mutants

bench: $(VENV)/.bench  ## times on this CPU, beside hand-written C, numba, Taichi, Warp and OpenCL; times of launches and of first calls
	@$(BIN)/python benchmarks/cpu.py
	@PYCU2C_BACKEND=cpu $(BIN)/python benchmarks/irregular_kernels.py
	@$(BIN)/python benchmarks/launch.py --cpu
	@$(BIN)/python benchmarks/startup.py
	@$(BIN)/python benchmarks/cupy_kernels.py --cpu

# without an installation; it needs setuptools, a C compiler and Python's headers
BUILD_EXTENSION = $(PYTHON) setup.py --quiet build_ext --inplace --build-temp build/temp
GPU_RUN = PYTHONPATH=$(CURDIR)/src:$$PYTHONPATH BENCHMARK_RESULTS=build/gpu $(PYTHON)
WORKERS ?= 8
IN_PARALLEL = $$($(PYTHON) -c 'import xdist' 2>/dev/null && echo '-n $(WORKERS)')

gpu:  ## on a machine with a GPU: the test suite there, then the benchmarks (uses PYTHON, installs nothing)
	@$(PYTHON) -c 'import numpy, pytest, cuda.core' \
	  || { echo "make gpu needs numpy, pytest, cuda-python and NVRTC in $(PYTHON)"; exit 1; }
	@$(BUILD_EXTENSION)
	@rm -rf build/gpu && mkdir -p build/gpu
	-@$(GPU_RUN) -m pytest -q -p no:benchmark -p no:cacheprovider $(IN_PARALLEL) --junitxml=build/gpu/tests.xml
	-@for benchmark in launch gpu graphs dependent_launches startup_gpu cupy_kernels products algorithms block_primitives; do \
	  $(GPU_RUN) benchmarks/$$benchmark.py; echo; \
	done
	-@$(GPU_RUN) benchmarks/irregular_kernels.py --gpu; echo
	@$(GPU_RUN) benchmarks/gpu_summary.py build/gpu

TOOLS ?= memcheck,racecheck,synccheck,initcheck

sanitize:  ## on a machine with a GPU: the tests that use it, watched by compute-sanitizer
	@$(BUILD_EXTENSION)
	@PYTHONPATH=src:$$PYTHONPATH $(PYTHON) tests/sanitize.py --tools $(TOOLS) --workers $(WORKERS)

clean:  ## remove what the targets above have made
	@rm -rf $(VENV) $(FRAMEWORKS_VENV) out build .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	@rm -f src/pycu2c/native/*.so
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- virtual environments: one folder, a stamp for each set of extras --------------------------

# the C extension, which an editable install builds: installed anew when its sources change
BUILT_FROM := pyproject.toml setup.py $(wildcard src/pycu2c/native/*.[ch])

$(VENV)/.demo: $(BUILT_FROM) | $(BIN)/python
	@echo "installing pycu2c into $(VENV)"
	@$(PIP) --editable '.[plot]'
	@touch $@

$(VENV)/.test: $(BUILT_FROM) | $(BIN)/python
	@echo "installing pycu2c with its test tools into $(VENV)"
	@$(PIP) --editable '.[gpu,link,sass,test,dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.site: $(BUILT_FROM) | $(BIN)/python
	@echo "installing pycu2c with Sphinx into $(VENV)"
	@$(PIP) --editable '.[gpu,sass,test,site]'
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: $(BUILT_FROM) | $(BIN)/python
	@echo "installing pycu2c with the others that its benchmarks run into $(VENV)"
	@$(PIP) --editable '.[bench,plot]'
	@touch $@ $(VENV)/.demo

$(FRAMEWORKS_VENV)/.ready: $(BUILT_FROM)
	@echo "installing pycu2c with PyTorch, JAX, TVM-FFI, Dask, Ray and MPI into $(FRAMEWORKS_VENV)"
	@$(PYTHON) -m venv $(FRAMEWORKS_VENV)
	@$(FRAMEWORKS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[frameworks]' pytest hypothesis coverage numpydoc mpi4py mpich
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or later is needed; $(PYTHON) is not: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || { echo "Python's venv module is missing: apt-get install python3-venv, then try again"; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
