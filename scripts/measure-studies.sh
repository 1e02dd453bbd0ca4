#!/usr/bin/env bash
# measure-studies.sh [--quick] [STUDY…]: measure studies under both profiles, all fair ones first. Each run takes the
# place of its profile in docs/studies/*.json, of which the pages are rendered. Says how long it will take before it
# starts. Resumes what was cut off (Ctrl-C) when it is called again. For a quiet machine.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
results=results/studies
assay=.venv/bin/assay

quick=()
studies=()
for word in "$@"; do
    case $word in
    --quick) quick=(--quick) ;;
    -*) die "unknown flag $word: measure-studies.sh [--quick] [STUDY…]" ;;
    *) studies+=("$word") ;;
    esac
done
[ ${#studies[@]} -gt 0 ] || studies=(--all)

# 1: a server could not be built, or a figure is invalid. The pages say so; the rest was measured. 130: Ctrl-C, which
# leaves what was measured by then.
trap : INT
run() { "$assay" run "$@" --results $results || case $? in 1 | 130) ;; *) return 1 ;; esac; }
"$assay" setup --profile both "${studies[@]}" || [ $? -eq 1 ]
unfinished=$(grep -lE '"state": "(to do|begun)"' $results/series-*/series.json 2>/dev/null | tail -n 1 || true)
if [ -n "$unfinished" ]; then
    series=$(basename "$(dirname "$unfinished")")
    say "going on with $series (remove $results/$series to begin anew)"
    run --resume "$series"
else
    run "${studies[@]}" --profile both "${quick[@]}"
    series=$(basename "$(dirname "$(ls -t $results/series-*/series.json | head -n 1)")")
fi
records=()
for record in "$results"/*/run.jsonl; do
    if grep -q "\"series\": *\"$series\"" "$record"; then records+=("$record"); fi
done
[ ${#records[@]} -gt 0 ] || die "$series holds no run"
PYTHONPATH=scripts .venv/bin/python -m study_pages "${records[@]}"
