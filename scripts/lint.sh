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
quietly "clippy" cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
quietly "rustdoc" env RUSTDOCFLAGS=-Dwarnings cargo doc --locked --workspace --no-deps --quiet
