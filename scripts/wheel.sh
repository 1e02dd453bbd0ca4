#!/usr/bin/env bash
# wheel.sh [FOLDER]: build a wheel that is the whole product (engine, null server, servers, studies) into FOLDER [dist].
# wheel.sh --bundle: only put servers and studies into the package, for another builder.
# Its platform tag is the lowest that this machine's C library allows. zig as the linker would allow an older one, but
# LuaJIT's own build does not link with it (its unwinder is missing): .github/workflows builds in an old container.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"

# What the package carries besides its own code: what git tracks of servers and studies, and nothing built in them.
bundle() {
    rm -rf src/assay/bundle
    mkdir -p src/assay/bundle
    git ls-files -z servers studies | while IFS= read -r -d '' file; do
        [ ! -f "$file" ] || cp --parents "$file" src/assay/bundle/
    done
}

build_wheel() { VIRTUAL_ENV="$root/.venv" .venv/bin/maturin build --release --locked --strip --out "$out"; }

command -v git >/dev/null || die "git is missing: it tells which servers' files belong into the wheel"
if [ "${1:-}" = --bundle ]; then
    bundle
    exit
fi
out=$(realpath -m "${1:-dist}")
trap 'rm -rf "$root/src/assay/bundle"' EXIT
bundle
quietly "build the wheel" build_wheel
wheel=$(ls -t "$out"/assay_http-*.whl | head -n 1)
# The same files, 4 % smaller; where the packer cannot be had, the wheel stays as it was built.
if may_install; then (debian advancecomp) || true; fi
! command -v advzip >/dev/null || quietly "pack it closer" advzip -z -2 "$wheel"
say "$wheel ($(du -h "$wheel" | cut -f1))"
