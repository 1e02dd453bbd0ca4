#!/usr/bin/env bash
# run.sh STUDY [ARGUMENTS…]: install and build what the study needs, then run it.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
study=$1
shift
# 1: a server could not be built. It will be a row with its reason; the study goes on.
.venv/bin/assay setup "$study" || [ $? -eq 1 ]
# 1: some figures are invalid. The report says which and why; the command did what it was asked to.
.venv/bin/assay run "$study" "$@" || [ $? -eq 1 ]
