#!/usr/bin/env bash
# test.sh [PYTEST ARGUMENTS…]: lints, the Rust tests, then the Python tests against real servers and tools.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
# The programs that tests compare with and drive; a study's own needs are in its servers' manifests.
debian wrk lua-socket lua-cjson apache2-utils nginx curl chromium openssl
scripts/lint.sh
say "Rust tests"
quietly "build the Rust tests" cargo test --locked --workspace --no-run
cargo test --locked --workspace --quiet
say "servers"
.venv/bin/assay setup --all
say "Python tests"
.venv/bin/python -m pytest "$@"
