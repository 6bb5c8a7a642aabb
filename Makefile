# make run      install what is missing, serve http://127.0.0.1:7860
# make test     install what tests need besides, then lint, types and all tests
# make lint     ruff and mypy alone
# make supervise  worker and page under supervisord

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
TORCH := $(shell grep '^torch==' requirements.txt)
TEST_PACKAGES := chromium curl fonts-noto-cjk fontconfig

.PHONY: install install-dev system-packages run supervise lint test clean

install: $(VENV)/.installed

install-dev: $(VENV)/.installed-dev

$(VENV)/bin/python:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; PYTHON=/path/to/python3.11 make ... names it" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)

# torch first and exactly: named by another package's range it would come as a CUDA build of several GB.
$(VENV)/.installed: requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	$(BIN)/python -m pip install --quiet -r requirements.txt
	@touch $@

$(VENV)/.installed-dev: requirements-dev.txt $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	@touch $@

# The browser tests need Debian's Chromium and a font with Chinese characters, the examples of the docs curl.
system-packages:
	@if command -v chromium >/dev/null && command -v curl >/dev/null && command -v fc-list >/dev/null && [ -n "$$(fc-list :lang=zh)" ]; then exit 0; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(TEST_PACKAGES) >/dev/null; \
	else \
	  echo "missing system packages; as root: apt-get install $(TEST_PACKAGES)" >&2; exit 1; \
	fi

run: install
	$(BIN)/python app.py

supervise: install
	mkdir -p -m 700 data/run
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/supervisord -c supervisord.conf

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: system-packages lint
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest -q

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache artifacts
