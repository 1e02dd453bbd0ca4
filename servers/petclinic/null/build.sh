#!/bin/sh
# build.sh ROOT OUT: builds the null server and compresses its one page as the other servers do.
set -eu
gzip -n -6 -c page.html > "$2/page.html.gz"
exec cargo build --release --locked --package assay-null-server --bin null-server \
  --manifest-path "$1/Cargo.toml" --target-dir "$1/target"
