#!/usr/bin/env bash
# test.sh [PYTEST ARGUMENTS…]: lints, the Rust tests, then the Python tests against real servers and tools.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
begun=()
trap 'kill "${begun[@]}" 2>/dev/null || true' EXIT
# Compiled beside pip, which waits for the network, and beside the engine's link, which has one core to itself.
# Whether it succeeds is seen below, where cargo is asked again.
nice -n 5 "${clippy[@]}" cargo test --locked --workspace --no-run >"$logs/rust-tests.log" 2>&1 </dev/null &
begun+=($!)
scripts/setup.sh dev
# The programs that tests compare with and drive; a study's own needs are in its servers' manifests.
debian wrk lua-socket lua-cjson apache2-utils nghttp2-client nginx curl chromium openssl zsh fish groff iproute2
unpacked prometheus usr/bin
# The servers are built of what lints and tests that measure nothing leave idle of the cores. Not far below them: a
# Java program that is asked for its version has a minute.
servers_log="$logs/servers.log"
# What servers in Rust have in common is compiled once, and Maven, which runs for seconds, compiles less of itself:
# neither changes what is built.
quick=(CARGO_BUILD_BUILD_DIR="$root/target/servers" MAVEN_OPTS="${MAVEN_OPTS:--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}")
nice -n 7 env "${quick[@]}" .venv/bin/assay setup --all >"$servers_log" 2>&1 </dev/null &
servers=$!
begun+=("$servers")
scripts/lint.sh
say "Rust tests"
# As with Hypothesis below: a commit gets the same examples each time; `cargo test` by hand rolls new ones.
export PROPTEST_RNG_SEED=1
"${clippy[@]}" cargo test --locked --workspace --lib --bins --tests --quiet
failed=0
# Told once more at the end: what a group prints is far above by then.
export ASSAY_FAILURES="$logs/failed-tests.log"
: >"$ASSAY_FAILURES"
export PYTEST_ADDOPTS="--hypothesis-profile=repeatable ${PYTEST_ADDOPTS:-}"
# What is right however busy the machine is runs beside others of its kind, of which some wait at any time; what needs
# no server of ours, while those are built.
if [ $# -eq 0 ]; then
    say "Python tests"
    workers=$(($(nproc) * 2)) side_by_side -m "beside and not contract" || failed=$?
fi
say "servers"
status=0
wait "$servers" || status=$?
trap - EXIT
cat "$servers_log"
[ "$status" -eq 0 ] || exit "$status"
say "Python tests of servers"
if [ $# -gt 0 ]; then exec .venv/bin/python -m pytest "$@"; fi
side_by_side -m "beside and contract" tests/contract tests/e2e || failed=$?
say "Python tests that have the machine to themselves"
.venv/bin/python -m pytest -m "not beside" --durations 15 tests/e2e || failed=$?
if [ "$failed" -ne 0 ]; then
    say "failed"
    cat "$ASSAY_FAILURES"
fi
exit "$failed"
