#!/bin/sh
# build.sh OUT: compresses the null server's one page as the other servers do.
set -eu
gzip -n -6 -c page.html > "$1/page.html.gz"
