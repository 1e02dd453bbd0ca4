#!/usr/bin/env bash
# setup.sh runtime|dev: everything Assay itself needs: tools, a virtual environment, the built engine.
# setup.sh environment: the same without the engine.
# What a study's servers need is the business of `assay setup STUDY`.
set -euo pipefail
. "$(dirname "$0")/common.sh"
kind=${1:?environment, runtime or dev}
build=yes
[ "$kind" != environment ] || kind=runtime build=no
cd "$root"

# at_least HAVE WANT: dotted versions
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

python_version() { python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo 0; }
rust_version() { rustc --version 2>/dev/null | cut -d' ' -f2 || echo 0; }

tools() {
    command -v python3 >/dev/null || debian python3
    at_least "$(python_version)" 3.11 || die "Python 3.11 or later is needed, python3 is $(python_version)"
    command -v cc >/dev/null || debian build-essential
    command -v cargo >/dev/null || die "Rust is missing: install it from rustup.rs (1.85 or later)"
    at_least "$(rust_version)" 1.85 || die "Rust 1.85 or later is needed, rustc is $(rust_version): rustup update stable"
    python3 -c 'import ensurepip' 2>/dev/null || debian python3-venv
}

make_venv() {
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --require-hashes -r "requirements/$1.txt"
}

# the environment: `dev` contains all of `runtime`, so a dev environment serves both
environment() {
    local key
    key="$(python3 -c 'import sys; print(sys.version)') $(cat "requirements/$kind.txt" | sha256sum)"
    if [ "$kind" = runtime ] && [ -x .venv/bin/python ] && [ "$(cat "$stamps/environment-dev" 2>/dev/null)" = \
        "$(python3 -c 'import sys; print(sys.version)') $(cat requirements/dev.txt | sha256sum)" ]; then
        return 0
    fi
    [ -x .venv/bin/python ] || rm -f "$stamps"/environment-* "$stamps"/build-the-engine
    if [ "$(cat "$stamps/environment-$kind" 2>/dev/null)" != "$key" ]; then
        rm -f "$stamps"/environment-* "$stamps"/build-the-engine
        quietly "make the virtual environment" make_venv "$kind"
        printf '%s' "$key" >"$stamps/environment-$kind"
    fi
}

# Stripped as the wheel is: so one build serves both.
build_engine() { VIRTUAL_ENV="$root/.venv" .venv/bin/maturin develop --release --locked --strip; }

tools
environment
[ "$build" = yes ] || exit 0
[ -n "$(find src/assay -maxdepth 1 -name '_engine*.so')" ] || rm -f "$stamps/build-the-engine"
once "build the engine" "$(digest crates/engine/src crates/engine/Cargo.toml crates/engine-lua crates/engine-python crates/http2/src crates/http2/Cargo.toml crates/http3/src crates/http3/Cargo.toml crates/link/src crates/link/Cargo.toml crates/null-server/src crates/null-server/Cargo.toml Cargo.toml Cargo.lock pyproject.toml)" build_engine
# No step writes byte code (common.sh), and each command is a process: without it each compiles what it imports.
.venv/bin/python -m compileall -q src/assay
