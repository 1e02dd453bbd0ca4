#!/usr/bin/env bash
# bench.sh [ARGUMENTS…]: Assay against other tools, side by side; see docs/benchmarks.md.
# --full without --only: also the injected flaws and the clean runs of docs/injected-flaws.md.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
packages=(wrk apache2-utils nginx strace)
http2=(nghttp2-client h2o libssl-dev)
case " $* " in
*[\ =]http[23]*) packages+=("${http2[@]}") ;;
*[\ =]--only[\ =]*) ;;
*" --full "*) packages+=("${http2[@]}") ;;
esac
debian "${packages[@]}"
code=0
.venv/bin/python benches/run.py "$@" || code=$?
case " $* " in
*" --only "*) ;;
*" --full "*) .venv/bin/python benches/injected.py --out docs/injected-flaws.md || code=$? ;;
esac
exit "$code"
