#!/bin/sh
# run.sh PETCLINIC_COM FLAGS...: runs petclinic on redbean in the foreground, its database in a private folder that is gone
# when it ends. The program is started by sh because it is an "actually portable executable", which execve(2) refuses.
set -eu
prefix=$(mktemp -d "${TMPDIR:-/tmp}/petclinic-redbean.XXXXXX")
trap 'rm -rf "$prefix"' EXIT
redbean=

# The first SIGTERM lets connections finish, the second does not wait for them.
stop() {
  [ -n "$redbean" ] || return 0
  kill -TERM "$redbean" 2>/dev/null || return 0
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$redbean" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -TERM "$redbean" 2>/dev/null || return 0
}
trap stop TERM INT

# TMPDIR is where the program unpacks its loader.
TMPDIR=$prefix PETCLINIC_DB=$prefix/clinic.db sh "$@" -l "$HOST" -p "$PORT" &
redbean=$!
# A signal interrupts the first wait; the second collects redbean itself.
status=0
wait "$redbean" || status=$?
wait "$redbean" 2>/dev/null || true
[ "$status" -le 128 ] && exit "$status"
exit 0
