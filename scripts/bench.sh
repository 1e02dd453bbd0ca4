#!/usr/bin/env bash
# bench.sh [ARGUMENTS…]: Assay against other tools, side by side; see docs/benchmarks.md.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
debian wrk apache2-utils nginx strace
exec .venv/bin/python benches/run.py "$@"
