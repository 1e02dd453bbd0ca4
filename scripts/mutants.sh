#!/usr/bin/env bash
# mutants.sh [COUNT]: change single lines of a sample, and see whether a test fails: which lines no test needs.
# Hours. COUNT changes of Rust (cargo-mutants) and of Python (cosmic-ray), 60 each; SEED draws them (today's
# number otherwise, so that each day has a sample of its own). The tools are installed below .assay, and the
# changes are made to a copy of what is committed. Exit 1 where fewer than 90 % are found.
set -euo pipefail
. "$(dirname "$0")/common.sh"
[ "${ASSAY_LONG:-0}" != 0 ] || die "this takes hours: ASSAY_LONG=1 make mutants"
count=${1:-60}
seed=${SEED:-$(($(date +%s) / 86400))}
place="$root/.assay/mutants"
least=90 # per cent of the changes that tests have to find
mkdir -p "$place"
cd "$root"

copy() {
    rm -rf "$place/tree"
    mkdir -p "$place/tree"
    git archive HEAD | tar -x -C "$place/tree"
    cp src/assay/_engine*.so "$place/tree/src/assay/"
}

python_tools() {
    [ -x "$place/venv/bin/cosmic-ray" ] || python3 -m venv "$place/venv"
    "$place/venv/bin/python" -m pip install --quiet 'cosmic-ray>=8.4,<9'
}

rust_tools() { cargo install --quiet --locked --root "$place" cargo-mutants@25.3.1; }

# All changes that cosmic-ray knows, of which a sample is kept in its session.
python_mutants() {
    cat >"$place/cosmic-ray.toml" <<TOML
[cosmic-ray]
module-path = "${PYTHON_PART:-src/assay}"
timeout = 900.0
excluded-modules = []
test-command = "env PYTHONPATH=src $root/.venv/bin/python -m pytest -q -x ${PYTHON_TESTS:-tests/unit tests/golden tests/audit}"
[cosmic-ray.distributor]
name = "local"
TOML
    cd "$place/tree"
    "$place/venv/bin/cosmic-ray" init --force "$place/cosmic-ray.toml" "$place/session.sqlite"
    "$place/venv/bin/python" "$root/scripts/sample_mutants.py" "$place/session.sqlite" "$count" "$seed"
    "$place/venv/bin/cosmic-ray" exec "$place/cosmic-ray.toml" "$place/session.sqlite"
}

rust_mutants() {
    local packages=(-p assay-engine -p assay-http2 -p assay-http3) all shards
    all=$("$place/bin/cargo-mutants" mutants --list "${packages[@]}" | wc -l)
    shards=$(((all + count - 1) / count))
    "$place/bin/cargo-mutants" mutants "${packages[@]}" --no-shuffle --shard "$((seed % shards))/$shards" \
        --timeout 300 --output "$place" || [ $? -le 3 ] # 2: some were missed, 3: some took too long
}

# found NAME FOUND MISSED: say the share, and whether it is enough
found() {
    local all=$(($2 + $3))
    [ "$all" -gt 0 ] || die "no change of $1 could be tried"
    say "$1: tests found $2 of $all changes"
    [ $(($2 * 100)) -ge $((all * least)) ]
}

quietly "copy what is committed" copy
quietly "install cosmic-ray" python_tools
quietly "change Python" python_mutants
"$place/venv/bin/cr-report" --surviving-only --show-diff "$place/session.sqlite" || true
read -r killed survived < <("$place/venv/bin/python" "$root/scripts/sample_mutants.py" "$place/session.sqlite")
status=0
found Python "$killed" "$survived" || status=1
quietly "install cargo-mutants" rust_tools
quietly "change Rust" rust_mutants
cat "$place/mutants.out/missed.txt"
found Rust "$(cat "$place"/mutants.out/{caught,timeout}.txt | wc -l)" "$(wc -l <"$place/mutants.out/missed.txt")" || status=1
exit "$status"
