#!/bin/sh
# Runs petclinic on nginx in the foreground: a private folder for its configuration, pid, temporary files and database,
# gone when it ends. GZIP is on or off.
set -eu
prefix=$(mktemp -d "${TMPDIR:-/tmp}/petclinic-nginx.XXXXXX")
nginx=
trap 'rm -rf "$prefix"' EXIT
trap 'if [ -n "$nginx" ]; then kill -TERM "$nginx" 2>/dev/null || true; fi' TERM INT

# Workers run as the user who started them (the checkout may be readable by nobody else).
sed -e "s|@USER@|$(id -un) $(id -gn)|g" -e "s|@CORES@|$CORES|g" -e "s|@GZIP@|$GZIP|g" \
    -e "s|@HOST@|$HOST|g" -e "s|@PORT@|$PORT|g" -e "s|@PREFIX@|$prefix|g" -e "s|@ROOT@|$CONTRACT_DIR|g" \
    "$CONTRACT_DIR/nginx-lua/nginx.conf" > "$prefix/nginx.conf"

nginx -p "$prefix" -c "$prefix/nginx.conf" -e stderr &
nginx=$!
# A signal interrupts the first wait; the second collects nginx itself.
status=0
wait "$nginx" || status=$?
wait "$nginx" 2>/dev/null || true
[ "$status" -le 128 ] && exit "$status"
exit 0
