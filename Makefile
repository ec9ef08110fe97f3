# Every target sets up what it needs and says so. Python packages go into a virtual environment in this folder; outside it,
# pip and toolvet fill their caches, and `make test` as root installs Debian packages (DEBIAN=no: it does not).

# A Python that is asked for by name (make test PYTHON=/usr/bin/python3) gets an environment of its own beside .venv.
ifeq ($(origin PYTHON),undefined)
VENV ?= .venv
else ifeq ($(origin VENV),undefined)
VENV := .venv-$(or $(shell $(PYTHON) -c 'import platform; print(platform.python_version())'),$(error $(PYTHON) cannot be run))
endif
BIN := $(VENV)/bin
# The newest Python that is new enough.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.PHONY: help assess demo test test-full test-matching phrases lint lint-style lint-mypy lint-basedpyright lint-public format bench ratios burst fuzz model soak live clients platforms conformance accuracy ratchet floors story clean

help:
	@echo "make assess   assess the example server: prints the report and writes report.html"
	@echo "make demo     fill a store from the example servers and open the dashboard on it, at http://127.0.0.1:8741"
	@echo "make test     run the tests, six minutes on two cores; what a test needs and is not there, it skips"
	@echo "make test-full   run the slow tests too, and those of frameworks and clusters (1.5 GB, a quarter of an hour);"
	@echo "              as root, install Debian packages for some of them; DEBIAN=no: install none"
	@echo "make test WING=core    run those of one wing, or of one folder or file of it: WING=assess/rules"
	@echo "make test PYTHON=/usr/bin/python3   the same on another Python, in an environment of its own"
	@echo "make test-matching   the tests of what matches text, whose outcome may differ between Pythons"
	@echo "make phrases LANG=de   run the proofs of the phrases of one language; without LANG, of all"
	@echo "make lint     linters, type checkers, import rules"
	@echo "make format   let the formatter have its way"
	@echo "make live     assess real servers from PyPI and npm, log in with an identity provider (installs them under .live)"
	@echo "make clients  \`toolvet hook\` in Claude Code, Codex, Gemini CLI and Copilot CLI (installs them under .live)"
	@echo "make dialects  LiteLLM's proxy and Claude Code's http hooks ask \`toolvet serve\` (installs them under .live)"
	@echo "make platforms  send scores with the SDKs of Langfuse, Opik and Phoenix to a local server (installs them in .venv-platforms)"
	@echo "make engines  judge the same rows with Polars, DuckDB, Spark and Ray Data (installs them in .venv-engines)"
	@echo "make cluster  judge and assess on a Ray cluster and on Dask while workers and nodes are killed (installs them in .venv-cluster)"
	@echo "make frameworks  the adapters with LangChain, OpenAI Agents, Pydantic AI, Google ADK, LiteLLM and ContextForge"
	@echo "make conformance  the official suite on four servers, direct, through the proxy and bridged (installs them under .conformance)"
	@echo "make bench    measure everything beside its peers, and write docs/performance.md; ONLY=answer for one"
	@echo "make ratios   fail where what users feel takes 30 % more than when it last landed; LAND=1 lands what is better"
	@echo "make healing  compare what the error texts of libraries do for a broken call, written to docs/healing.md"
	@echo "make accuracy DATA=folder   score the answer check on labelled JSONL, written to docs/accuracy.md"
	@echo "make ratchet DATA=folder    fail where an accuracy figure is below its floor in accuracy-floors.json"
	@echo "make floors DATA=folder     move the floors to the figures that are better now"
	@echo "make story    run ten incidents from the server to the answer, written to docs/story.md"
	@echo "make fuzz     coverage-guided fuzzing, half a minute for each target (Linux: installs atheris), then every"
	@echo "              property test with ten times as many examples, about a quarter of an hour on two cores"
	@echo "make fuzz FUZZ_TARGETS='wire answers' FUZZ_SECONDS=600 FUZZ_RUNS=100000   longer, or only some (fuzz/targets/)"
	@echo "make model    the session against its reference, with a hundred times as many conversations as make test"
	@echo "make soak     a million calls through real proxies while something goes wrong every second; CALLS=50000"
	@echo "make schemathesis EXAMPLES=100   more requests from the OpenAPI document than make test draws"
	@echo "make site     build the documentation as a web site, in build/site, and check its links"
	@echo "make recording  draw a run on the server of docs/quickstart.md, and take the pictures of pages (docs/images/)"
	@echo "make clean    remove what these made"

assess: $(VENV)/.assess
	@echo "== Assessing examples/bookshop_server.py. The first run compiles the phrases into toolvet's cache (about 15 s)."
	$(BIN)/toolvet assess --timeout 2 --fail-on never --report html=report.html -- $(BIN)/python examples/bookshop_server.py

demo: $(VENV)/.demo
	@test -e demo.db || $(BIN)/python examples/fill_store.py demo.db
	@echo "The next make demo opens this store again; make clean removes it."
	@$(BIN)/toolvet serve --store demo.db || test $$? -eq 130  # Ctrl-C is how it ends.

# WING is a folder or a file of tests/, by its path there or by its name alone. One folder is quicker in one process.
WING_TESTS = $(or $(wildcard $(foreach path,$(WING) $(WING).py test_$(WING).py,tests/$(path))),$(shell \
	find tests -name '$(WING)' -o -name '$(WING).py' -o -name 'test_$(WING).py'))

test: $(VENV)/.test
ifdef WING
	@test -n "$(WING_TESTS)" || { echo "tests/ has no folder or file named $(WING); its folders are:" \
		$(sort $(notdir $(patsubst %/,%,$(wildcard tests/*/)))) >&2; exit 2; }
	$(BIN)/pytest $(if $(filter core assess proxy server store batch,$(WING)),-n auto) $(WING_TESTS)
else
	$(BIN)/pytest -n auto --dist worksteal
endif

# DEBIAN=yes or no: whether programs from Debian are installed that some tests run. Without it: as root, yes.
DEBIAN ?=

test-full: $(VENV)/.test-full
	@sh tests/debian-packages.sh $(DEBIAN)
	$(BIN)/pytest -n auto --dist worksteal --full

MATCHING = core/languages core/matching core/prose core/checks core/envelope core/turn core/redact core/test_possessive.py mcp/wire

# In an environment that has all that the tests use, or one of its own with the little that these need.
test-matching: $(or $(wildcard $(VENV)/.test),$(VENV)/.matching)
	$(BIN)/pytest -n auto --full $(MATCHING:%=tests/%)

# LANG is set in every shell, to the language of the person: only one that is given to make itself counts. The proofs
# then run without it, because `de` is not the name of a locale.
phrases: $(VENV)/.test
	LANG=C.UTF-8 TOOLVET_LANGUAGE=$(if $(findstring command,$(origin LANG)),$(LANG)) $(BIN)/pytest -q -p no:xdist tests/core/languages/test_proofs.py

lint: lint-style lint-mypy lint-basedpyright lint-public

lint-style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

lint-mypy: $(VENV)/.dev
	$(BIN)/mypy

lint-basedpyright: $(VENV)/.dev
	$(BIN)/basedpyright --pythonpath $(BIN)/python

# Type checks of a program that uses toolvet.
lint-public: $(VENV)/.dev
	$(BIN)/pytest -q -p no:xdist tests/test_public_types.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

live: $(VENV)/.dev
	$(BIN)/pytest -m live tests/live

# No account and no internet: each client talks to a scripted model on loopback.
clients: $(VENV)/.dev
	$(BIN)/pytest -m live tests/agents/hook/live

# Other products ask a running server: LiteLLM's proxy and Claude Code's http hooks, with a scripted model on loopback.
# TOOLVET_DOCKER_MCP_GATEWAY=folder, a checkout of docker/mcp-gateway, also builds and runs its interceptors.
.PHONY: dialects
dialects: $(VENV)/.dev
	$(BIN)/pytest -m live tests/server/dashboard/live

# In an environment of its own: these SDKs are heavy, and want other versions of what the tests have.
platforms: .venv-platforms/.done
	TOOLVET_PLATFORMS=required .venv-platforms/bin/pytest tests/server/scores/test_scores*.py

# In an environment of its own: these engines are heavy. Spark needs Java.
.PHONY: engines
engines: .venv-engines/.done
	TOOLVET_ENGINES=required .venv-engines/bin/pytest tests/batch/test_own_engines.py

# Engines of `toolvet batch` on a Ray cluster of two nodes and on Dask, whose workers and nodes are killed.
.PHONY: cluster
cluster: .venv-cluster/.done
	TOOLVET_CLUSTER=required .venv-cluster/bin/pytest -p no:xdist --timeout=900 tests/batch/cluster tests/assess/test_many_cluster.py

# The error texts of libraries, each called for real (Node for some), and three healers: docs/healing.md.
.PHONY: healing
healing: .venv-healing/.done
	.venv-healing/bin/python -m benchmarks.healing

# In an environment of its own: the generator needs none of what the project needs. Its links between pages are checked
# here, links to headings by tests/test_links.py.
.PHONY: site
site: .venv-site/.done
	.venv-site/bin/python docs/site/prepare.py build/pages
	.venv-site/bin/zensical build --strict --clean --config-file mkdocs.yml

.venv-site/.done: docs/site/requirements.txt | .venv-site/bin/python
	@echo "== .venv-site: installing what builds the site (75 MB)"
	.venv-site/bin/python -m pip install $(QUIET) --requirement docs/site/requirements.txt
	@touch $@

# The pictures of docs/images/: real ones, drawn again. Those of pages need Chromium.
.PHONY: recording
recording: $(VENV)/.test-full
	$(BIN)/python docs/site/recording.py docs/images/assess.svg
	$(BIN)/python docs/site/report_picture.py docs/images

# The adapters for agent frameworks, each in its own framework; some of these want other versions than the tests have.
.PHONY: frameworks
frameworks: .venv-frameworks/.done .venv-gateways/.done .venv-langchain-mcp/.done
	.venv-frameworks/bin/pytest -p no:cacheprovider tests/agents/frameworks/test_adapters.py tests/agents/frameworks/test_endings.py tests/test_quickstart.py
	.venv-gateways/bin/pytest -p no:cacheprovider tests/agents/frameworks/test_gateways.py
	.venv-langchain-mcp/bin/pytest -p no:cacheprovider tests/agents/frameworks/test_langchain_mcp.py

# .venv-platforms, .venv-engines, .venv-cluster, .venv-frameworks and so on: each has the extra of its name.
.venv-%/.done: pyproject.toml | .venv-%/bin/python
	@echo "== .venv-$*: installing the extra $* of pyproject.toml"
	.venv-$*/bin/python -m pip install $(QUIET) --editable . --group '$*'
	@touch $@

# Twenty reviewers at once over 10,000 items, on SQLite and on PostgreSQL.
.PHONY: reviewers
reviewers: $(VENV)/.test-full
	TOOLVET_QUEUE_ITEMS=10000 $(BIN)/pytest -k twenty --timeout=1800 tests/store/test_queue_reviewers.py

# Requests drawn from the OpenAPI document, a number of them for each operation, on SQLite and on PostgreSQL.
.PHONY: schemathesis
EXAMPLES ?= 100
schemathesis: $(VENV)/.test-full
	TOOLVET_SCHEMATHESIS_EXAMPLES=$(EXAMPLES) $(BIN)/pytest -p no:xdist tests/server/dashboard/test_api_schemathesis.py

conformance: $(VENV)/.dev
	$(BIN)/python conformance/compare.py

# For each target: how long, and at most how many inputs (0: no limit). FUZZ_TARGETS are files of fuzz/targets/.
FUZZ_SECONDS ?= 30
FUZZ_RUNS ?= 0
FUZZ_TARGETS ?=

fuzz: $(VENV)/.test-full
	$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install $(QUIET) 'atheris>=3,<4'
	$(BIN)/python -m fuzz.run $(FUZZ_TARGETS) --seconds $(FUZZ_SECONDS) --runs $(FUZZ_RUNS)
	$(BIN)/pytest -n auto --full -m "hypothesis and not live" --hypothesis-profile=fuzz --timeout=3600

model: $(VENV)/.test
	$(BIN)/pytest -p no:xdist --hypothesis-profile=model --timeout=36000 tests/proxy/session/test_model.py

CALLS ?= 1000000

soak: $(VENV)/.test
	$(BIN)/python -m tests.proxy.soak.run --calls $(CALLS)

accuracy: $(VENV)/.accuracy
	@test -d "$(DATA)" || { echo "make accuracy needs DATA=folder, a folder of labelled JSONL" >&2; exit 2; }
	$(BIN)/python -m benchmarks.accuracy "$(DATA)" > docs/accuracy.md.new && mv docs/accuracy.md.new docs/accuracy.md

ratchet: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.ratchet $(if $(DATA),"$(DATA)")

floors: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.ratchet --update $(if $(DATA),"$(DATA)")

story: $(VENV)/.test-full
	$(BIN)/python -m tests.story.page > docs/story.md.new && mv docs/story.md.new docs/story.md

# A burst of 100,000 calls through a real proxy, all of them recorded.
burst: $(VENV)/.test
	TOOLVET_BURST=100000 $(BIN)/pytest -k burst --timeout=900 tests/proxy/test_record_survives.py

# A step of .ci/run. LAND=1 lands what is new or better, LAND="a refusal" that case as it is.
ratios: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.ratios $(if $(LAND),--land "$(LAND)")

# ONLY="answer schema" measures some; the others keep the figures that stand.
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.bench $(ONLY)

clean:
	rm -rf $(VENV) .venv-* .live .conformance build dist report.html report.json demo.db*

%/bin/python:
	@test -n "$(PYTHON)" || { echo "toolvet needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv); none was found" >&2; exit 1; }
	@echo "== $*: a virtual environment for $$($(PYTHON) --version)"
	$(PYTHON) -m venv $*
	@$@ -m pip install $(QUIET) --upgrade 'pip>=25.1' # The first that knows dependency groups.

# Else make removes what only a pattern names.
.PRECIOUS: %/bin/python

QUIET := --quiet --disable-pip-version-check

$(VENV)/.assess: pyproject.toml | $(BIN)/python
	@echo "== $(VENV): installing toolvet and the MCP SDK for examples/ (115 MB, about half a minute)"
	$(BIN)/python -m pip install $(QUIET) --editable '.[mcp]'
	@touch $@

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	@echo "== $(VENV): installing toolvet with its dashboard, and the MCP SDK for examples/ (150 MB, about half a minute)"
	$(BIN)/python -m pip install $(QUIET) --editable '.[mcp,serve]'
	@touch $@ $(VENV)/.assess

$(VENV)/.matching: pyproject.toml | $(BIN)/python
	@echo "== $(VENV): installing what the tests of what matches text need (200 MB, about half a minute)"
	$(BIN)/python -m pip install $(QUIET) --editable . --group matching-test
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	@echo "== $(VENV): installing what the tests use (600 MB, about a minute)"
	$(BIN)/python -m pip install $(QUIET) --editable . --group test
	@touch $@ $(VENV)/.assess $(VENV)/.demo

$(VENV)/.test-full: pyproject.toml | $(BIN)/python
	@echo "== $(VENV): installing the frameworks, clusters and clouds that the tests run for real (1.5 GB, a few minutes)"
	$(BIN)/python -m pip install $(QUIET) --editable . --group test-full
	@touch $@ $(VENV)/.test $(VENV)/.assess $(VENV)/.demo

$(VENV)/.accuracy: pyproject.toml | $(VENV)/.dev
	@echo "== $(VENV): installing the peers that accuracy is compared with"
	$(BIN)/python -m pip install $(QUIET) --editable . --group peers
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "== $(VENV): installing the linters, and all that the tests use (1.6 GB, a few minutes)"
	$(BIN)/python -m pip install $(QUIET) --editable . --group dev
	@touch $@ $(VENV)/.test-full $(VENV)/.test $(VENV)/.assess $(VENV)/.demo
