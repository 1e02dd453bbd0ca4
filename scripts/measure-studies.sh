#!/usr/bin/env bash
# measure-studies.sh [--quick] [STUDY…]: measure studies under both profiles, all fair ones first, and keep the tables in
# docs/studies/. Says how long it will take before it starts. What was cut off (Ctrl-C) is gone on with when it is called
# again; until then the page of a study that has only its fair profile shows that. For a quiet machine.
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

# keep PAGE TABLES: put the tables between the page's marks; the prose around them stays as it is.
keep() {
    local page=$1 tables=$2 new
    new=$(mktemp "$page.XXXX")
    awk -v tables="$tables" -v root="$root/" '
        /^<!-- measured: begin/ { print; print ""; measured = 1; shown = 0
            while ((getline line < tables) > 0) {
                if (line ~ /^## /) shown = 1            # the page has a title and a question of its own
                while ((at = index(line, root)) > 0) line = substr(line, 1, at - 1) substr(line, at + length(root))
                if (shown) print line
            }
        }
        /^<!-- measured: end/ { measured = 0 }
        !measured { print }
    ' "$page" >"$new"
    chmod 644 "$new"
    mv "$new" "$page"
}

# fair REPORT: a report as what a page shows of a study that has no other profile yet; title and question are the page's own.
fair() {
    echo "## The fair profile"
    echo
    awk 'shown && /^##/ { $0 = "#" $0 } /^\*\*/ { shown = 1 } shown { print }' "$1"
}

# 1: a server could not be built, or a figure is invalid. The tables say so; the rest was measured. 130: Ctrl-C, which
# leaves what was measured by then.
trap : INT
run() { "$assay" run "$@" --results $results || case $? in 1 | 130) ;; *) return 1 ;; esac; }
"$assay" setup "${studies[@]}" || [ $? -eq 1 ]
unfinished=$(grep -lE '"state": "(to do|begun)"' $results/series-*/series.json 2>/dev/null | tail -n 1 || true)
if [ -n "$unfinished" ]; then
    series=$(basename "$(dirname "$unfinished")")
    say "going on with $series (remove $results/$series to begin anew)"
    run --resume "$series"
else
    run "${studies[@]}" --profile both "${quick[@]}"
    series=$(basename "$(dirname "$(ls -t $results/series-*/series.json | head -n 1)")")
fi
for report in $results/*/report.md; do
    grep -q "\"series\": *\"$series\"" "${report%report.md}run.jsonl" || continue
    study=$(basename "$(dirname "$report")" | sed 's/-[0-9]*-[0-9]*-[0-9a-f]*$//')
    mkdir -p "$results/$series"
    [ -f "$results/$series/$study.md" ] || fair "$report" >"$results/$series/$study.md"
done
for tables in "$results/$series"/*.md; do
    page="docs/studies/$(basename "$tables")"
    [ -f "$page" ] || continue
    keep "$page" "$tables"
    say "wrote $page"
done
