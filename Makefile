# Two commands matter: `make run` and `make test`. Both set up what they need; a second call rebuilds nothing.
.DEFAULT_GOAL := help
SHELL := /bin/bash
STUDY ?= franklin
ARGS ?=
RUN ?= latest
.PHONY: help run setup setup-dev test check lint mutants bench why-pairs cluster studies studies-pages api-docs rule-pages schema pictures wheel clean

help: ## show these lines
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

run: ## run a study from nothing to a report (STUDY=franklin, ARGS="--quick")
	@scripts/run.sh $(STUDY) $(ARGS)

setup: ## prepare Assay itself: virtual environment and engine
	@scripts/setup.sh runtime

setup-dev:
	@scripts/setup.sh dev

test: ## run every test and lint
	@scripts/test.sh $(ARGS)

check: setup-dev ## lint (without what compiles Rust), unit, golden and audit tests; no servers (3 minutes)
	@scripts/check.sh $(ARGS)

lint: setup-dev ## ruff, mypy, clippy, rustfmt
	@scripts/lint.sh

mutants: setup-dev ## change single lines of a sample: which do tests miss? (hours; ASSAY_LONG=1)
	@scripts/mutants.sh $(ARGS)

bench: setup-dev ## measure Assay itself (ARGS="--only engine")
	@scripts/bench.sh $(ARGS)

why-pairs: setup-dev ## why one of two real servers is faster, for pairs of them (15 minutes; writes docs/method/evidence/why.md)
	@.venv/bin/python scripts/why_pairs.py

cluster: setup-dev ## three hosts of network namespaces, a Ray cluster in them, and a study over it (root; STUDY=franklin)
	@.venv/bin/assay setup $(STUDY) || [ $$? -eq 1 ]
	@.venv/bin/python tests/support/three_hosts.py .venv/bin/assay run $(STUDY) --ray {ray} $(ARGS) || [ $$? -eq 1 ]

studies: setup ## measure every study under both profiles into docs/studies/ (hours; ARGS="--quick heroes")
	@scripts/measure-studies.sh $(ARGS)

studies-pages: setup ## write docs/studies/*.md from docs/studies/*.json
	@PYTHONPATH=scripts .venv/bin/python -m study_pages

api-docs: setup ## write docs/api.md from what `import assay` offers
	@PYTHONPATH=scripts .venv/bin/python -m api_docs

rule-pages: setup ## write docs/method/rules/*.md from the rules' code
	@PYTHONPATH=scripts .venv/bin/python -m rule_pages

schema: ## write src/assay/model's plan, measurement and interleaving from the engine's structs
	@ASSAY_GOLDEN=write cargo test --locked --quiet -p assay-engine --lib schema::
	@scripts/setup.sh dev
	@PYTHONPATH=scripts .venv/bin/python -m schema

pictures: setup-dev ## make the README's picture from a run (RUN=latest), and the dashboard's
	@scripts/pictures.sh $(RUN)

wheel: setup ## build a wheel that is the whole product, into dist/
	@scripts/wheel.sh

clean: ## remove everything built; results stay
	rm -rf target .venv .assay dist src/assay/_engine*.so src/assay/bundle
