#!/usr/bin/env bash
# pictures.sh [RUN]: make the README's picture, docs/answer.svg, from a stored run [latest]: its plot of every server
# against the best; and that of the dashboard, docs/dashboard.svg, from a load that a Prometheus scrapes.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
.venv/bin/assay report "${1:-latest}" --svg "$made"
[ -f "$made/answer.svg" ] || die "this run has no plot that answers: it needs two servers that were measured"
cp "$made/answer.svg" docs/answer.svg
echo "wrote docs/answer.svg: $(wc -c <docs/answer.svg) bytes"
unpacked prometheus usr/bin
PYTHONPATH=scripts .venv/bin/python -m dashboard_picture
