#!/usr/bin/env bash
# test.sh [PYTEST ARGUMENTS…]: lints, the Rust tests, then the Python tests against real servers and tools.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
# The programs that tests compare with and drive; a study's own needs are in its servers' manifests.
debian wrk lua-socket lua-cjson apache2-utils nghttp2-client nginx curl chromium openssl zsh fish groff iproute2
# The servers are built behind lints and the Rust tests, of what those leave idle of the cores. Not at the lowest
# priority: a Java program that is asked for its version has a minute.
servers_log="$logs/servers.log"
nice -n 10 .venv/bin/assay setup --all >"$servers_log" 2>&1 </dev/null &
servers=$!
trap 'kill "$servers" 2>/dev/null || true' EXIT
scripts/lint.sh
say "Rust tests"
quietly "build the Rust tests" cargo test --locked --workspace --no-run
cargo test --locked --workspace --quiet
say "servers"
status=0
wait "$servers" || status=$?
trap - EXIT
cat "$servers_log"
[ "$status" -eq 0 ] || exit "$status"
say "Python tests"
if [ $# -gt 0 ]; then exec .venv/bin/python -m pytest "$@"; fi
# What is right however busy the machine is runs beside others of its kind; all the rest has the machine to itself.
failed=0
side_by_side tests/contract tests/golden tests/audit tests/unit || failed=$?
side_by_side -m beside tests/e2e || failed=$?
.venv/bin/python -m pytest -m "not beside" --durations 15 tests/e2e || failed=$?
exit "$failed"
