#!/usr/bin/env bash
# run.sh STUDY [ARGUMENTS…]: set up Assay and what the study's profile uses, then run the study.
# The engine and the servers need nothing of each other until they run: they are built side by side.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
study=$1
shift
profile=fair previous=
for word in "$@"; do
    [ "$previous" != --profile ] || profile=$word
    case $word in --profile=*) profile=${word#*=} ;; esac
    previous=$word
done

scripts/setup.sh environment
say "building the engine and the servers of $study ($profile), side by side; from nothing 2 to 4 minutes"
began=$SECONDS
scripts/setup.sh runtime </dev/null > >(cat) &
engine=$!
trap 'kill "$engine" 2>/dev/null || true' EXIT
# 1: a server could not be built. It will be a row with its reason; the study goes on.
PYTHONPATH=src .venv/bin/python -m assay.cli.main setup "$study" --profile "$profile" || [ $? -eq 1 ]
while [ -t 1 ] && kill -0 "$engine" 2>/dev/null; do
    printf '\r  building the engine %s%d s%s' "$dim" $((SECONDS - began)) "$plain"
    sleep 0.2
done
[ ! -t 1 ] || printf '\r\e[K'
wait "$engine"
trap - EXIT
say "built in $((SECONDS - began)) s; measuring"
# 1: some figures are invalid. The report says which and why; the command did what it was asked to.
.venv/bin/assay run "$study" "$@" || [ $? -eq 1 ]
