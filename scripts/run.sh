#!/usr/bin/env bash
# run.sh STUDY [ARGUMENTS…]: install and build what the study needs, then run it.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
study=$1
shift
.venv/bin/assay setup "$study"
exec .venv/bin/assay run "$study" "$@"
