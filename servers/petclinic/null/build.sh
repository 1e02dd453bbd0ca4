#!/bin/sh
# build.sh ROOT OUT: builds the null server and compresses its one page as the other servers do.
set -eu
gzip -n -6 -c page.html > "$2/page.html.gz"
exec sh "$1/crates/null-server/build.sh" "$1" "$2"
