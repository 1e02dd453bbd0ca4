#!/usr/bin/env bash
# lint.sh [quick]: every static check; warnings are errors. `quick` leaves out what compiles Rust.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
say "lint"
quietly "ruff check" .venv/bin/ruff check src tests benches scripts/study_pages scripts/rule_pages.py
quietly "ruff format" .venv/bin/ruff format --check src tests benches scripts/study_pages scripts/rule_pages.py
quietly "mypy" .venv/bin/mypy
quietly "rustfmt" cargo fmt --all --check
if [ "${1:-}" = quick ]; then exit 0; fi
# Read while the tests are compiled, with what they are compiled of (common.sh): `cargo clippy` and `cargo doc` compile
# each dependency once more.
quietly "clippy" "${clippy[@]}" cargo test --locked --workspace --no-run
quietly "rustdoc" "${clippy[@]}" RUSTDOC="$root/scripts/rustdoc.sh" RUSTDOC_OUT="$root/target/doc" \
    cargo test --locked --workspace --doc
