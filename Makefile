# The commands of the README. `make help` lists them; each sets up what it needs, in `.venv`, and
# repeats only the steps whose inputs have changed.

PYTHON ?= python3
# The other interpreters whose Python tests `make check` runs: one of each version from 3.10 up.
PYTHONS ?= $(shell $(PYTHON) .ci/pythons.py)
VENV := .venv
ORACLE := .venv-oracle
TRAINERS := .venv-trainers
AGENTS := .venv-agents
BENCH := .venv-bench
BIN := $(VENV)/bin
# One pip serves all environments; the others are made without. Modules are compiled where they are imported, and most
# never are; but once, also where the environment forbids that: each server of the tests would compile 700 again.
PIP = $(BIN)/python -m pip
ALIVE = sh .ci/alive
TESTED := target/tested
RUN = $(PYTHON) .ci/tested.py run
export PIP_COMPILE := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
export PYTHONPYCACHEPREFIX := $(CURDIR)/target/pycache
unexport PYTHONDONTWRITEBYTECODE
SOURCES := $(shell find src build.rs build Cargo.toml Cargo.lock python/src python/Cargo.toml python/build.rs python/openai_harmony/_lowlevel.pyi -type f 2>/dev/null)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-rust test-checks test-features test-python test-pythons test-frameworks test-ray test-engines test-agents test-adapters trainers check format lint types bench figures browser docs pictures package release fuzz load simulate laws capi wasm scoreboard clean tools

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

demo: $(VENV)/$(if $(wildcard $(VENV)/.built),.built,.tried) ## the main job on a real conversation: render, parse, stream
	@$(BIN)/python examples/demo.py

# A quarter of the random cases and of the exhaustive volumes; `make check` runs all of them.
test: ## set up and run the tests of both languages
	@rm -rf $(TESTED)
	@$(MAKE) --no-print-directory test-rust test-python SHARE=0.25
	@$(PYTHON) .ci/tested.py sum $(TESTED)/Rust.log $(TESTED)/Python.log $(TESTED)/doctests.log

check: format lint types docs test-rust test-checks capi test-python test-features test-pythons test-frameworks ## formatting, lints, types, stubs, the site, all tests with all their cases, the Python tests on all PYTHONS

# A part that fails or has no peer keeps what results.json had; the others are measured all the same.
BENCHES ?= start compare gateway render beside_vllm instructions
bench: $(BENCH)/.made ## compare with the published packages, side by side, and keep benches/results.json; BENCHES="start compare" for parts
	@for part in $(BENCHES); do echo "$$part"; \
	  $(BENCH)/bin/python benches/$$part.py $$(test $$part = instructions || echo --keep) || failed=1; done; exit $${failed:-0}

figures: $(VENV)/.built ## write the figures of the documents from benches/results.json
	$(BIN)/python benches/figures.py

fuzz: tools ## fuzz the parser and the readers of requests; FUZZ_SECONDS=60 sets for how long each
	sh fuzz/run.sh $(or $(FUZZ_SECONDS),60)

simulate: $(VENV)/.dev $(VENV)/.built ## the gateway in new simulated worlds; SECONDS=60 sets for how long
	cd tests/python && $(CURDIR)/$(BIN)/python -m simulation.worlds --seconds $(or $(SECONDS),60)

load: $(VENV)/.dev $(VENV)/.built ## the gateway under load: 1,064 streams, hostile requests, one chain from 24 clients; STORE=postgresql+psycopg://… for that
	cd tests/python && for kind in mixed attacks "chain $(if $(STORE),--store $(STORE))"; do $(CURDIR)/$(BIN)/python -m simulation.load $$kind || exit 1; done

laws: tools ## try the laws on LAWS_CASES=20000 new random cases
	SMALL_WORLDS=$(or $(SMALL_WORLDS),7) PROPTEST_CASES=$(or $(LAWS_CASES),20000) cargo test --release --workspace --features arrow

browser: $(VENV)/.dev $(VENV)/.built $(VENV)/.browser ## the playground, and the module for JavaScript if it is built, in a real browser: Debian's chromium and chromium-driver
	$(BIN)/python -m pytest -rs tests/browser

capi: $(VENV)/.dev $(VENV)/.built ## the C face: the library, a C program over it, under valgrind where that is there, and the examples in C and Go
	cargo build --package openai-harmony-capi
	$(BIN)/python -m pytest -rs capi/tests

scoreboard: $(VENV)/.dev $(VENV)/.built ## docs/scoreboard.md: the conformance corpus read by other parsers of harmony (1 GB in target/peers; Go for Ollama's, g++ for llama.cpp's)
	$(BIN)/python conformance/peers.py

# Rustup's target; without it, Debian's compiler with its sources, which builds the standard library too. Random
# numbers and the clock are the host's: javascript/harmony.js gives ids and times.
WASM = CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS='--cfg getrandom_backend="unsupported"'
DEBIAN = RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-22 /usr/bin/cargo
BUILD_WASM = rustc --release --package openai-harmony-capi --crate-type cdylib --target wasm32-unknown-unknown --target-dir target/wasm
wasm: ## javascript/harmony.wasm, and its tests in Node 20: `rustup target add wasm32-unknown-unknown`, or Debian's rustc-web, cargo-web, rust-web-src and lld-22
	@if test -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown)"; then \
	  echo "built with rustup's target wasm32-unknown-unknown"; $(WASM) cargo $(BUILD_WASM); \
	elif test -d /usr/lib/rustlib/src/rust/library && test -x /usr/bin/cargo && command -v wasm-ld-22 >/dev/null; then \
	  echo "built with Debian's rustc-web and the standard library from its sources"; \
	  $(WASM) $(DEBIAN) $(BUILD_WASM) -Zbuild-std=std,panic_abort; \
	else echo "no compiler for wasm32-unknown-unknown: rustup target add wasm32-unknown-unknown" >&2; exit 1; fi
	cp target/wasm/wasm32-unknown-unknown/release/harmony.wasm javascript/
	cd javascript && node --test test/ && npm exec --yes --package=typescript@5 --package=@types/node@20 -- \
	  tsc --strict --exactOptionalPropertyTypes --noEmit --module nodenext --target es2022 --lib es2022,dom test/types.ts

# Without --quiet, which drops warnings before --strict counts them.
docs: $(VENV)/.dev $(VENV)/.built $(VENV)/.docs ## the site in target/site: every link is checked
	NO_MKDOCS_2_WARNING=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/mkdocs build --strict
	if test -f javascript/harmony.wasm; then cp javascript/harmony.js javascript/harmony.wasm target/site/try/; fi
	RUSTDOCFLAGS="-D warnings" cargo doc --package openai-harmony --no-deps --features arrow
	rm -rf target/site/rust-api && cp -r target/doc target/site/rust-api
	test -f target/site/rust-api/openai_harmony/index.html

pictures: $(VENV)/.dev $(VENV)/.built ## draw the pictures of the documents; screenshots need chromium
	$(BIN)/python docs/pictures/draw.py

clean: ## remove all that these commands made
	rm -rf .venv .venv-* .bench target .mypy_cache .pytest_cache .ruff_cache
	rm -rf fuzz/target fuzz/corpus fuzz/artifacts fuzz/Cargo.lock
	rm -f python/openai_harmony/_lowlevel*.so

# One line says which tool is missing and how to get it.
tools:
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust from https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || test "$(OS)" = Windows_NT || env | grep -q '^CARGO_TARGET_.*_LINKER=' \
	  || grep -qs linker .cargo/config.toml "$${CARGO_HOME:-$$HOME/.cargo}/config.toml" \
	  || { echo "the linker cc is missing: install a C compiler (Debian: apt install gcc libc6-dev, macOS: xcode-select --install)" >&2; exit 1; }
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.10 or later, or name one: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "$(PYTHON) is too old: install Python 3.10 or later, or name one: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments: install its venv package (Debian: apt install python3-venv)" >&2; exit 1; }

# The random cases of the laws are the same in each run, so that a failure comes from the change;
# `make laws` tries new ones.
test-rust: tools
	PROPTEST_RNG_SEED=$${PROPTEST_RNG_SEED:-0} $(if $(SHARE),PROPTEST_CASES=64 SMALL_WORLDS=4) \
	  $(RUN) $(TESTED)/Rust.log cargo test --features arrow

# What needs large crates: a web server, tiktoken-rs, a parser of TypeScript.
test-checks: tools
	PROPTEST_RNG_SEED=$${PROPTEST_RNG_SEED:-0} cargo test --package openai-harmony-checks --all-targets

# Without vector instructions.
test-features: tools
	PROPTEST_RNG_SEED=$${PROPTEST_RNG_SEED:-0} cargo test --package openai-harmony-checks --features portable \
	  --test tokenizer_equivalence

test-python: $(VENV)/.dev $(VENV)/.built $(ORACLE)/.made
	@OPENAI_HARMONY_ORACLE_PYTHON="$(if $(WITHOUT_ORACLE),,$$(ls $(CURDIR)/$(ORACLE)/bin/python 2>/dev/null))" \
	OPENAI_HARMONY_ORACLE_MISSING="$(or $(WITHOUT_ORACLE),$$(cat $(ORACLE)/missing 2>/dev/null))" \
	TIKTOKEN_ENCODINGS_BASE=$(CURDIR)/$(ORACLE) OPENAI_HARMONY_ORACLE_TIMES=$${OPENAI_HARMONY_ORACLE_TIMES:-$(or $(SHARE),1)} \
	$(RUN) $(TESTED)/Python.log $(BIN)/python -m pytest -rs -n auto --maxprocesses 8
	@$(RUN) $(TESTED)/doctests.log $(BIN)/python -m pytest --doctest-modules $(foreach name,hf renderers skyrl tinker verl vllm/parser,--ignore=python/openai_harmony/adapters/$(name).py) python

# Each has its own virtual environment, `.venv-3.10`; the extension modules are in one folder. What is compared with
# 0.0.8 is decided in Rust, whatever the Python.
test-pythons: tools
	@for python in $(PYTHONS); do \
	  version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])') || exit 1; \
	  echo "The Python tests on Python $$version"; \
	  $(MAKE) --no-print-directory PYTHON=$$python VENV=.venv-$$version \
	    WITHOUT_ORACLE="compared with 0.0.8 by the first Python" SHARE=0.25 test-python || exit 1; \
	done

# Without them `make test` skips these tests, and says so.
test-frameworks: $(VENV)/.dev $(VENV)/.built $(VENV)/.frameworks ## the tests with Hugging Face datasets and a store of S3's protocol
	$(BIN)/python -m pytest -rs tests/python/test_training_huggingface.py tests/python/test_training_dataset_s3.py

# 300 MB, and a cluster on this machine, which may wait for ever where memory or cores are few.
test-ray: $(VENV)/.dev $(VENV)/.built $(VENV)/.ray ## the tests with Ray Data and Ray Serve
	$(BIN)/python -m pytest -rs tests/python/test_training_ray.py tests/python/test_serve_ray.py

trainers: $(TRAINERS)/.made $(VENV)/.built ## the trainers themselves read the rows: PyTorch, TRL, Megatron (6 GB on Linux)
	@if test -s $(TRAINERS)/missing; then echo "not tested: the trainers cannot be installed"; cat $(TRAINERS)/missing; \
	else PYTHONPATH=$(CURDIR)/python $(TRAINERS)/bin/python -m pytest -rs tests/python/trainers; fi

# What other packages warn of is theirs to fix. A package that cannot be installed is skipped.
test-adapters: $(TRAINERS)/.adapters $(VENV)/.built ## the adapters of rollouts with TRL, renderers, verl, tinker-cookbook, SkyRL and transformers, in the trainers' environment
	@if test -s $(TRAINERS)/missing; then echo "not tested: the trainers cannot be installed"; cat $(TRAINERS)/missing; \
	else HF_HUB_OFFLINE=1 PYTHONPATH=$(CURDIR)/python $(TRAINERS)/bin/python -m pytest -rs -o filterwarnings=ignore tests/python/adapters; fi

# vLLM and SGLang without what they need on GPUs, which is gigabytes: their classes import all the same.
test-engines: $(TRAINERS)/.engines $(VENV)/.built ## the gateway with transformers and llama.cpp, which really sample; vLLM's and SGLang's classes; in the trainers' environment
	@if test -s $(TRAINERS)/missing; then echo "not tested: transformers cannot be installed"; cat $(TRAINERS)/missing; \
	else HF_HUB_OFFLINE=1 PYTHONPATH=$(CURDIR)/python $(TRAINERS)/bin/python -m pytest -rs tests/python/engines; fi

# A copy of the repository, so that the names in it stay.
package: $(VENV)/.dev ## build the wheel and the source as they are published, check and install them: target/package
	$(PIP) install "maturin>=1.9.4,<2" twine
	rm -rf target/package && mkdir -p target/package
	git archive --prefix=source/ HEAD | tar -x -C target/package
	$(BIN)/python target/package/source/.ci/release.py rename
	cd target/package/source && $(CURDIR)/$(BIN)/maturin build --quiet --release --compression-level 9 --sdist --out ../dist
	$(BIN)/python .ci/release.py check target/package/dist
	$(BIN)/twine check --strict target/package/dist/*
	PACKAGE=$(CURDIR)/target/package/dist $(BIN)/python -m pytest -rs tests/package

release: ## tag what is on main with the version of .ci/distribution, and push it: the workflow publishes
	$(PYTHON) .ci/release.py tag

# What other packages warn of is theirs to fix.
test-agents: $(AGENTS)/.made $(VENV)/.built ## the gateway with the agents that people use: Codex, Claude Code, OpenAI's Agents SDK, LangChain, LiteLLM, and npm's packages
	@if test -s $(AGENTS)/missing; then echo "not tested: the agents cannot be installed"; cat $(AGENTS)/missing; \
	else PYTHONPATH=$(CURDIR)/python $(AGENTS)/bin/python -m pytest -rs -o filterwarnings=ignore tests/python/clients; fi

format: $(VENV)/.dev
	cargo fmt --all --check
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	cargo clippy --package openai-harmony --all-targets -- -D warnings
	PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo clippy --workspace --all-targets --features arrow -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --package openai-harmony --no-deps
	RUSTDOCFLAGS="-D warnings" cargo doc --package openai-harmony --no-deps --features arrow
	@if rustup toolchain list 2>/dev/null | grep -q '^1\.88'; then \
	  RUSTFLAGS="-D warnings" cargo +1.88 check --package openai-harmony --target-dir target/oldest; \
	else echo "not checked with Rust 1.88, the oldest supported: it is not installed"; fi
	@if test -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown)"; then \
	  cargo clippy --package openai-harmony --target wasm32-unknown-unknown -- -D warnings; \
	else echo "not checked for wasm32-unknown-unknown: the target is not installed"; fi
	$(BIN)/ruff check .
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

types: $(VENV)/.dev $(VENV)/.built
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest openai_harmony._lowlevel --mypy-config-file pyproject.toml

$(VENV)/.made: | tools
	@echo "The first time takes a minute or two: a virtual environment in $(VENV), then the extension is built."
	$(PYTHON) -m venv $(VENV)
	$(ALIVE) "installing pip and maturin" $(PIP) install --upgrade "pip>=25.1" "maturin>=1.9.4,<2"
	@touch $@

DEVELOP = PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV=$(CURDIR)/$(VENV) \
  $(ALIVE) "building the extension" $(BIN)/maturin develop

# For tests: built quickly, without the optimisations of a release (Cargo.toml, `profile.dev`).
$(VENV)/.built: $(VENV)/.made $(SOURCES) pyproject.toml
	@test -f $@ || echo "Building the extension: two minutes the first time, seconds after a change."
	$(DEVELOP)
	@touch $@

# For the demo, until the tests build more: without Arrow and optimisation, in half the time.
$(VENV)/.tried: $(VENV)/.made $(SOURCES) pyproject.toml
	@test -f $@ || echo "Building the extension: a minute the first time, seconds after a change."
	CARGO_PROFILE_DEV_OPT_LEVEL=0 $(DEVELOP) --no-default-features
	@touch $@

# As users install it: the release, from a wheel.
$(BENCH)/.made: $(SOURCES) pyproject.toml $(shell find python -name '*.py' 2>/dev/null) | $(VENV)/.made
	@test -d $(BENCH) || $(PYTHON) -m venv --without-pip $(BENCH)
	$(PIP) --python $(BENCH)/bin/python install --group checks
	$(PIP) --python $(BENCH)/bin/python install --force-reinstall --no-deps .
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(ALIVE) "installing what the tests need" $(PIP) install --group checks
	@touch $@

$(VENV)/.frameworks: $(VENV)/.made pyproject.toml
	$(PIP) install --group frameworks
	@touch $@

$(VENV)/.ray: $(VENV)/.made pyproject.toml
	$(PIP) install --group ray
	@touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	$(PIP) install --group docs
	@touch $@

$(VENV)/.browser: $(VENV)/.made pyproject.toml
	$(PIP) install --group browser
	@touch $@

# Without a cache, which would take as much again.
$(TRAINERS)/.made: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m venv --without-pip $(TRAINERS)
	@$(PIP) --python $(TRAINERS)/bin/python install --no-cache-dir --group trainers 2>$(TRAINERS)/missing \
	  && rm -f $(TRAINERS)/missing || true
	@touch $@

# Without their dependencies, which contradict one another: pyproject.toml, group `adapters`. SkyRL asks for Python 3.12;
# the classes that its adapter needs run on older ones.
$(TRAINERS)/.adapters: $(TRAINERS)/.made
	@test -s $(TRAINERS)/missing || $(PIP) --python $(TRAINERS)/bin/python install --no-cache-dir --group adapters || true
	@for package in renderers==0.1.12 tinker-cookbook==0.6.1 verl==0.9.1 skyrl==0.4.0 skyrl-gym==0.4.0; do \
	  test -s $(TRAINERS)/missing || $(PIP) --python $(TRAINERS)/bin/python install --no-cache-dir --no-deps \
	    --ignore-requires-python $$package || true; \
	done
	@touch $@

# Where they cannot be installed, their tests are skipped and show the reason.
$(TRAINERS)/.engines: $(TRAINERS)/.made pyproject.toml
	@test -s $(TRAINERS)/missing || { $(PIP) --python $(TRAINERS)/bin/python install --no-cache-dir --group engines \
	  && $(PIP) --python $(TRAINERS)/bin/python install --no-cache-dir --no-deps vllm==0.33.0 sglang==0.5.23; } || true
	@touch $@

$(AGENTS)/.made: pyproject.toml tests/python/clients/javascript/package.json | $(VENV)/.made
	$(BIN)/python -m venv --without-pip $(AGENTS)
	@$(PIP) --python $(AGENTS)/bin/python install --group agents 2>$(AGENTS)/missing \
	  && rm -f $(AGENTS)/missing || true
	@if command -v npm >/dev/null; then cp tests/python/clients/javascript/package.json $(AGENTS)/ \
	  && npm install --prefix $(AGENTS) --no-audit --no-fund --loglevel error || true; fi
	@touch $@

# The published package that this one replaces, for the tests that compare the two. Where it
# cannot be installed, those tests are skipped and show the reason.
$(ORACLE)/.made: | $(VENV)/.built
	@rm -rf $(ORACLE) && mkdir $(ORACLE)
	@if $(BIN)/python -m venv --without-pip $(ORACLE) \
	  && $(PIP) --python $(ORACLE)/bin/python install openai-harmony==0.0.8 2>$(ORACLE)/missing; \
	then rm -f $(ORACLE)/missing; $(BIN)/python -m openai_harmony vocabulary $(ORACLE); \
	else rm -rf $(ORACLE)/bin; fi
	@touch $@
