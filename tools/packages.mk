# What others install: a source distribution and wheels, tried as they would try them. CONTRIBUTING.md
# says how a release is made. PYTHONS: the versions of Python to try packages with.
PYTHONS ?= $(PYTHON)
TEST_TOOLS := "pytest>=8" "hypothesis>=6.100" "pytest-xdist>=3.6" "safetensors>=0.4.2" "pandas>=2" "polars>=1,<2"
.PHONY: sdist dist wheels audit test-packages test-lowest release

.venv/release: .venv/tools
	@$(call REQUIRE,release)
	@touch $@

sdist: .venv/release
	rm -rf dist
	$(BIN)/python -m build --installer pip --sdist

# The source distribution and, built from it in isolation, a wheel. `make dist PYTHON=python3.12` makes
# an abi3 wheel, for that version of Python and all later ones.
dist: sdist
	$(PYTHON) -m venv --clear build/dist
	build/dist/$(SCRIPTS)/python -m pip --disable-pip-version-check -qq wheel --no-deps -w dist dist/*.tar.gz

# Wheels to be published, for this platform. On Linux cibuildwheel needs Docker or Podman.
wheels: .venv/release
	$(BIN)/python -m cibuildwheel --output-dir dist

# What is in dist: metadata, names, the stable ABI, the oldest glibc.
audit: .venv/release
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/audit.py dist/*

# The wheel where it fits, else the source distribution, in an empty environment of each of PYTHONS: it
# learns, and the tests that need no further package pass. `make test-packages PYTHONS="python3.11 python3.13"`
test-packages:
	for python in $(PYTHONS); do $(PYTHON) tools/try_package.py $$python dist $(if $(SDIST),--sdist) || exit 1; done

# The lowest versions that pyproject.toml allows. River, Dask and Spark need newer ones of the others, and
# import-linter needs a newer typer. Old versions may warn of what newer ones do not. scikit-learn 1.6 and 1.7 take
# no names from the frames of polars 2.
LOWEST := build/lowest/env/$(SCRIPTS)/python
test-lowest: wheel
	$(PYTHON) -m venv build/lowest/env
	$(PYTHON) tools/requirements.py --lowest plot cli onnx serve > build/lowest/requirements.txt
	$(LOWEST) -m pip --disable-pip-version-check -qq install -r build/lowest/requirements.txt $(TEST_TOOLS)
	$(LOWEST) -m pip --disable-pip-version-check -qq install --no-deps --force-reinstall build/wheel/*.whl
	OPENBLAS_NUM_THREADS=1 $(LOWEST) -m pytest -q -n 2 --dist loadfile -W default --ignore tests/test_map.py $(or $(TESTS),tests)

# All of a release that needs neither a network nor rights. Prints the rest: `make release VERSION=0.1.0`
release:
	@test -n "$(VERSION)" || { echo "say which version: make release VERSION=0.1.0"; exit 2; }
	$(PYTHON) tools/release.py $(VERSION)
