# Sourced by the other scripts: where things are, and how they speak.
# No step here assumes HOME or any variable but PATH: `env -i HOME=… PATH=… make run` must work.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
stamps="$root/.assay/stamps"
logs="$root/.assay/logs"
mkdir -p "$stamps" "$logs"

export LC_ALL=${LC_ALL:-C.UTF-8}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' plain=$'\e[0m'; else bold='' dim='' red='' plain=''; fi

say() { printf '%s▸ %s%s\n' "$bold" "$*" "$plain"; }
die() { printf '%s✗ %s%s\n' "$red" "$*" "$plain" >&2; exit 2; }

# quietly NAME COMMAND…: run with output in a log and a moving clock on a terminal; show the log's end on failure.
quietly() {
    local name=$1 log started pid status=0
    log="$logs/$(printf '%s' "$name" | tr -c 'a-zA-Z0-9\n' '-').log"
    started=$SECONDS
    shift
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    trap 'kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; echo; exit 130' INT TERM
    if [ -t 1 ]; then
        while kill -0 "$pid" 2>/dev/null; do
            printf '\r  %s %s%d s%s' "$name" "$dim" $((SECONDS - started)) "$plain"
            sleep 0.2
        done
        printf '\r\e[K'
    fi
    wait "$pid" || status=$?
    trap - INT TERM
    if [ "$status" -ne 0 ]; then
        tail -n 30 "$log" >&2
        die "$name failed (exit $status); the whole output is in $log"
    fi
    printf '  %s %s(%d s)%s\n' "$name" "$dim" $((SECONDS - started)) "$plain"
}

# once NAME KEY COMMAND…: quietly, unless it succeeded before with the same KEY.
once() {
    local name=$1 key=$2 stamp
    stamp="$stamps/$(printf '%s' "$name" | tr -c 'a-zA-Z0-9\n' '-')"
    shift 2
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ] && return 0
    rm -f "$stamp"
    quietly "$name" "$@"
    printf '%s' "$key" >"$stamp"
}

# digest PATH…: one hash over the content of every file below the paths.
digest() { find "$@" -type f -not -path '*/target/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-32; }

# side_by_side PYTEST ARGUMENTS…: tests that measure nothing, by so many `workers` (one for each core): a file is one's.
# The first time, one worker's reading of the tests does for all (tests/conftest.py keeps what it made of them).
side_by_side() {
    local pytest=("$root/.venv/bin/python" -m pytest)
    [ -d "$root/tests/unit/__pycache__" ] || quietly "read the tests" "${pytest[@]}" --collect-only -q
    "${pytest[@]}" -n "${workers:-logical}" --dist loadfile --no-loadscope-reorder --durations 15 "$@"
}

# as_root COMMAND…: run as root, or through sudo where it asks for no password; else return 1.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; elif sudo -n true 2>/dev/null; then sudo -n "$@"; else return 1; fi
}
may_install() { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

# debian PACKAGE…: install what is missing, or name the command that does.
debian() {
    local missing=() package
    command -v dpkg-query >/dev/null || return 0
    for package in "$@"; do installed "$package" || missing+=("$package"); done
    [ ${#missing[@]} -eq 0 ] && return 0
    may_install || die "missing Debian packages; install them with: sudo apt-get install ${missing[*]}"
    quietly "install ${missing[*]}" as_root "$root/src/assay/servers/apt-install.sh" "${missing[@]}"
}

# unpacked PACKAGE FOLDER: put what the package has in that folder on the PATH without installing it: it would start a
# daemon, now or with the machine. Where it cannot be had, tests that want it say that they are skipped.
unpacked() {
    local into="$root/.assay/unpacked/$1" log="$logs/unpack-$1.log"
    command -v dpkg-deb >/dev/null || return 0
    if [ ! -d "$into" ]; then
        rm -rf "$into.new" && mkdir -p "$into.new"
        if ! (cd "$into.new" && { apt-get download "$1" || { as_root apt-get update && apt-get download "$1"; }; } &&
            dpkg-deb -x ./*.deb . && rm ./*.deb && mv "$into.new" "$into") >"$log" 2>&1 </dev/null; then
            say "$1 cannot be had ($log): its tests are skipped"
            return 0
        fi
    fi
    export PATH="$PATH:$into/$2"
}

# A rustup proxy finds its toolchains below HOME; under another HOME, look beside the proxy itself.
if command -v cargo >/dev/null && ! cargo --version >/dev/null 2>&1 && [ -z "${RUSTUP_HOME:-}" ]; then
    beside="$(dirname "$(dirname "$(dirname "$(command -v cargo)")")")/.rustup"
    [ -d "$beside/toolchains" ] && export RUSTUP_HOME="$beside"
    if ! cargo --version >/dev/null 2>&1; then
        newest=$(find "$beside/toolchains" -mindepth 1 -maxdepth 1 -name 'stable*' 2>/dev/null | head -n 1)
        [ -n "$newest" ] && export RUSTUP_TOOLCHAIN="${newest##*/}"
    fi
fi

# "${clippy[@]}" cargo test …: what cargo compiles of ours is read by clippy too, whose warnings are errors. It is what
# `cargo clippy` does with `cargo check`.
clippy=(env RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__)
