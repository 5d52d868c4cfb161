# Two commands set everything up: `make demo` and `make test`. Each makes .venv and builds the package if need be.
PYTHON ?= python3
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := .venv/$(SCRIPTS)
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
NATIVE := CMakeLists.txt pyproject.toml $(wildcard core/*.?pp core/*/*.?pp bindings/*.?pp)
BUILD_TOOLS := "scikit-build-core>=0.11" "nanobind>=2.7" "cmake>=3.26" ninja
SOURCES := core/*.?pp core/*/*.?pp bindings/*.?pp benchmarks/*.cpp examples/cpp/*.cpp

.PHONY: demo test lint format prose picture wheel asan tsan bench bench-quick bench-compare arena soak test-serve mutants experiments docs clean

demo: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m parsimon.cli.demo

# The C++ tests are built while pip installs packages. The longest files of tests begin first (tests/conftest.py).
test: .venv/tools
	$(MAKE) -j 2 .venv/test core-test
	$(MAKE) wheel
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder  # the matrices are tiny: threads would only wait for each other

.venv/tools:
	@echo "setting up .venv ..."
	@$(PYTHON) -m venv .venv
	@$(PIP) install $(BUILD_TOOLS)
	@touch $@

# Which modules there are: the editable installation must be made anew when that changes, not when one of them does.
.venv/modules: .venv/tools FORCE
	@find src -name '*.py*' -not -path '*/__pycache__*' | sort > $@.new; cmp -s $@.new $@ || cp $@.new $@
FORCE:

# Dependencies are installed in the usual way; parsimon alone is built with the tools of .venv.
REQUIRE = $(BIN)/python tools/requirements.py $(1) > .venv/requirements.txt && $(PIP) install -r .venv/requirements.txt

.venv/installed: .venv/tools .venv/modules $(NATIVE)
	@echo "installing dependencies and building the C++ core (a minute or two) ..."
	@$(call REQUIRE,plot cli)
	@$(PIP) install --no-build-isolation --no-deps -C cmake.define.PARSIMON_WERROR=ON -e .
	@touch $@

# What only the tests need: peers and engines, some hundreds of megabytes.
.venv/test: .venv/installed
	@echo "installing what the tests need (some hundreds of megabytes) ..."
	@$(call REQUIRE,test)
	@touch $@

.venv/dev: .venv/test
	@$(call REQUIRE,dev)
	@touch $@

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/clang-format --dry-run --Werror $(SOURCES)
	$(BIN)/zizmor --offline --quiet --config .github/zizmor.yml .github/workflows
	@if command -v actionlint >/dev/null; then actionlint; else echo "actionlint is not installed: only zizmor checked the workflows"; fi

# Spelling, and the prose of the pages. tools/prose.py says what is checked.
prose: .venv/dev
	$(BIN)/codespell
	$(BIN)/python tools/prose.py

# The picture of README.md.
picture: .venv/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/front_picture.py

format: .venv/dev
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(SOURCES)

# The core's own tests (core-test) and their ports; packages and releases.
include tools/ports.mk tools/packages.mk

# Builds tests and extension with sanitizers (GCC): folder, sanitizers. Python itself has none, so what it loads them with is preloaded.
define SANITIZED
	$(BIN)/cmake -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DPARSIMON_TESTS=ON -DPARSIMON_WERROR=ON -DPARSIMON_SANITIZE=$(2) \
	  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) >/dev/null
	$(BIN)/cmake --build $(1)
	$(1)/core_tests
endef
PRELOAD = OPENBLAS_NUM_THREADS=1 LD_PRELOAD="$$(gcc -print-file-name=$(1)) $$(gcc -print-file-name=libstdc++.so.6)"

# AddressSanitizer and UBSan: the C++ tests, and those Python tests that give the extension what it must refuse or store.
# They leave out what must fail for want of memory, which AddressSanitizer takes for an error.
asan: .venv/test
	$(call SANITIZED,build/asan,address)
	$(call PRELOAD,libasan.so) ASAN_OPTIONS=detect_leaks=0 $(BIN)/python tools/sanitized.py build/asan -m pytest -q -p no:cacheprovider \
	  tests/test_state.py tests/test_forged.py tests/test_kernel_functions.py tests/test_dictionary.py tests/test_dictionary_learning.py \
	  tests/test_knlms.py tests/test_filters.py tests/test_sog.py tests/test_single.py tests/test_merging.py tests/test_kap.py tests/test_parts.py \
	  -k "not (headers or several_things or memory or another_process or deep_and_wide or sizes or starve or keep_coming or hundred_thousand)"

# ThreadSanitizer: the C++ tests, and every estimator with one thread that learns while others use it.
tsan: .venv/test
	$(call SANITIZED,build/tsan,thread)
	$(call PRELOAD,libtsan.so) TSAN_OPTIONS=exitcode=66 $(BIN)/python tools/sanitized.py build/tsan tests/races.py

# Builds the wheel with the tools at hand, installs it into an empty environment and uses it there. Needs no network:
# what parsimon depends on comes from .venv, parsimon itself must not.
wheel: .venv/installed
	rm -rf build/wheel
	$(PIP) wheel --no-build-isolation --no-deps --no-index -C cmake.define.PARSIMON_WERROR=ON -w build/wheel .
	$(PYTHON) -m venv build/wheel/env
	build/wheel/env/$(SCRIPTS)/python -m pip --disable-pip-version-check -q install --no-index --no-deps build/wheel/*.whl
	$(BIN)/python -c "import numpy, pathlib; print(pathlib.Path(numpy.__file__).parents[1])" > "$$(build/wheel/env/$(SCRIPTS)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/dependencies.pth"
	cd build/wheel && env/$(SCRIPTS)/python -I ../../tools/installed.py

# Beside peers, which it installs where it can; writes benchmarks/RESULTS.md and plots. `make bench DATA=folder` reads MNIST (mnist.npz) from there.
bench: .venv/installed
	$(BIN)/python benchmarks/run.py --install $(if $(DATA),--data-dir $(DATA))

# A smoke test of that, in less than a minute; writes nothing.
bench-quick: .venv/installed
	$(BIN)/python benchmarks/run.py --quick

# The default over all streams of a folder, beside StreamArena's leaderboard, simple models and its own cost; an hour.
# CapyMOA runs too where PEER is a Python that has it (benchmarks/arena_peers.py). Writes benchmarks/ARENA.md.
ARENA = $(BIN)/python benchmarks/arena.py $(if $(DATA),--data-dir $(DATA))
arena: .venv/installed
	$(ARENA) --baselines
	$(ARENA) --cost
	$(ARENA) --peers $(if $(PEER),--peer-python $(PEER))
	$(ARENA) --streams --report benchmarks/ARENA.md

# What got slower since a revision: `make bench-compare REV=main~5`.
bench-compare: .venv/installed
	@test -n "$(REV)" || { echo "say which revision: make bench-compare REV=main~5"; exit 2; }
	$(BIN)/python benchmarks/compare.py $(REV)

# Long runs that must hold: a million samples and more, and an hour of a server (`make soak MINUTES=10`).
soak: .venv/test
	$(BIN)/python tests/soak/krls.py
	$(BIN)/python tests/soak/polk.py
	$(BIN)/python tests/soak/atoms.py
	$(BIN)/python tests/soak/files.py
	$(BIN)/python tests/soak/hostile_input.py
	$(BIN)/python tests/soak/cli.py
	$(BIN)/python tests/soak/serving_hour.py $(if $(MINUTES),--minutes $(MINUTES))

# What only tests of the server need: a browser's driver, a tester of its OpenAPI description, Kafka's client and MLflow,
# which installs an older pyarrow.
.venv/test-serve: .venv/test
	@$(call REQUIRE,test-serve)
	@touch $@

# The server, at length: its tests, 200 times kill -9 under load, 60 with brokers, 10,000 requests made from its
# description, and its speed beside an echo endpoint; 40 minutes. Streams of MQTT need mosquitto (Debian's package).
test-serve: .venv/test-serve
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/test_serving*.py tests/test_streams*.py tests/test_mlflow.py
	$(BIN)/python tests/soak/server.py
	$(BIN)/python tests/soak/stream_kills.py
	$(BIN)/python tests/soak/serving_labels.py
	$(BIN)/python tests/soak/serving_schema.py
	$(BIN)/python benchmarks/serve_load.py

# The core with one semantic change at a time: which changes does no test notice? `make mutants ONLY=core/rls.cpp JOBS=2`
mutants: .venv/test
	$(BIN)/python tests/mutants/run.py $(if $(JOBS),--jobs $(JOBS)) $(if $(ONLY),--only $(ONLY))

# The papers' tables and figures, into results/.
# `make experiments DATA=folder` reads real data sets from there; without it they are fetched by name.
experiments: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m parsimon.experiments $(if $(DATA),--data-dir $(DATA))

# The site, in build/docs. All examples of the gallery run. A warning is an error, as is a link that leads nowhere.
docs: .venv/docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/sphinx-build -j 2 -W -n --keep-going -q -b html -d build/doctrees docs build/docs
	$(BIN)/python tools/check_site.py build/docs

.venv/docs: .venv/installed
	@echo "installing what the site needs ..."
	@$(call REQUIRE,docs)
	@touch $@

clean:
	rm -rf .venv build dist demo-output results docs/api docs/gallery docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
