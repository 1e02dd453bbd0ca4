#!/bin/sh
# Build base and head, compare them, and leave what a pull request shows. Ends as `assay versus` does:
# 0 kept (or not to be told), 1 invalid (or unsure with FAIL_IF_UNSURE=true), 2 bad usage, 3 slower.
#
# BASE_DIR, HEAD_DIR  the two checkouts
# BUILD               a command that builds one of them, run in each; may be empty
# SERVE               a command that serves on {port} or $PORT, run in each
# URL                 what is loaded ("http://127.0.0.1:{port}/")
# LIMIT               the share that head may be slower by (2%)
# FAIL_IF_UNSURE      true: fail where it cannot be told
# ARGS                more flags of `assay versus`, such as "--budget 3m -c 32"
# OUT                 the folder for summary.md, junit.xml, report.html, run.json (assay-gate)
# ASSAY               the program (assay)
set -u
: "${BASE_DIR:?}" "${HEAD_DIR:?}" "${SERVE:?}"
out=${OUT:-assay-gate}
mkdir -p "$out" && : > "$out/summary.md" || exit 2

ended() {
  [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$out/summary.md" >> "$GITHUB_STEP_SUMMARY"
  [ -z "${GITHUB_OUTPUT:-}" ] || echo "code=$1" >> "$GITHUB_OUTPUT"
  exit "$1"
}

quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

for side in "$BASE_DIR" "$HEAD_DIR"; do
  if [ -n "${BUILD:-}" ] && ! (cd "$side" && sh -c "$BUILD"); then
    echo "assay gate: $side could not be built: $BUILD" | tee "$out/summary.md" >&2
    ended 2
  fi
done

[ -n "${URL:-}" ] || URL='http://127.0.0.1:{port}/'
unsure=
[ "${FAIL_IF_UNSURE:-false}" = true ] && unsure=--fail-if-unsure
# What is said here is added to the summary of the step below, with the comment's text.
# shellcheck disable=SC2086 # ARGS are words
GITHUB_STEP_SUMMARY="$out/summary.md" ${ASSAY:-assay} versus \
  "cd $(quoted "$BASE_DIR") && exec $SERVE" "cd $(quoted "$HEAD_DIR") && exec $SERVE" \
  --name base --name head --url "$URL" \
  --fail-if-slower "${LIMIT:-2%}" $unsure --results "$out/results" \
  --html "$out/report.html" --junit "$out/junit.xml" --step-summary ${ARGS:-}
code=$?
if [ -s "$out/junit.xml" ]; then
  ${ASSAY:-assay} report latest --results "$out/results" --json > "$out/run.json"
fi
ended $code
