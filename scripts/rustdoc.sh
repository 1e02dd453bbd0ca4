#!/usr/bin/env bash
# rustdoc.sh: what `cargo test --doc` calls as RUSTDOC (lint.sh): beside the examples, which it runs as it was asked
# to, it reads the whole documentation, of which a warning (a link to nothing) is an error. `cargo doc` does so too,
# but compiles every dependency for it once more (three minutes of CPU time).
set -euo pipefail
page=()
taken=0
for word in "$@"; do
    if [ "$taken" -gt 0 ]; then
        taken=$((taken - 1))
        continue
    fi
    case $word in
        --test | --no-run | --nocapture) ;;
        --test-args | --test-run-directory | --test-runtool | --test-runtool-arg) taken=1 ;;
        *) page+=("$word") ;;
    esac
done
rustdoc "${page[@]}" -Dwarnings --out-dir "${RUSTDOC_OUT:?where the pages go}"
exec rustdoc "$@"
