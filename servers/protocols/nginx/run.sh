#!/bin/sh
# Runs nginx in the foreground: a private folder for its configuration, certificate, long answer, pid and temporary files,
# gone when it ends.
set -eu
prefix=$(mktemp -d "${TMPDIR:-/tmp}/protocols-nginx.XXXXXX")
nginx=
trap 'rm -rf "$prefix"' EXIT
trap 'if [ -n "$nginx" ]; then kill -TERM "$nginx" 2>/dev/null || true; fi' TERM INT

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=own \
    -addext "subjectAltName=IP:$HOST" -keyout "$prefix/own.key" -out "$prefix/own.pem" 2>/dev/null
mkdir "$prefix/files"
head -c 100000 /dev/zero | tr '\0' x > "$prefix/files/large"

# Workers run as the user who started them (the folder may be readable by nobody else).
sed -e "s|@USER@|$(id -un) $(id -gn)|g" -e "s|@CORES@|$CORES|g" -e "s|@HOST@|$HOST|g" -e "s|@PORT@|$PORT|g" \
    -e "s|@PREFIX@|$prefix|g" nginx.conf > "$prefix/nginx.conf"

nginx -p "$prefix" -c "$prefix/nginx.conf" -e stderr &
nginx=$!
# A signal interrupts the first wait; the second collects nginx itself.
status=0
wait "$nginx" || status=$?
wait "$nginx" 2>/dev/null || true
[ "$status" -le 128 ] && exit "$status"
exit 0
