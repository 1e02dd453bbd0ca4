#!/usr/bin/env bash
# lock.sh: write the hashed Python locks anew from the ranges in pyproject.toml (needs `pip install uv`).
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
lock() { env -u PIP_FIND_LINKS uv pip compile --quiet --python-version 3.11 --universal --generate-hashes --no-header --no-annotate --no-emit-index-url pyproject.toml "$@"; }
lock --extra all --extra build -o requirements/runtime.txt
lock --extra all --extra build --extra dev -o requirements/dev.txt
