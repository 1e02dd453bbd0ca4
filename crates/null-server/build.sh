#!/bin/sh
# build.sh ROOT OUT: the null server, compiled once in the checkout for all contracts, copied to where a build belongs.
set -eu
root=$1 out=$2
cargo build --release --locked --package assay-null-server --bin null-server \
    --manifest-path "$root/Cargo.toml" --target-dir "$root/target"
cp "$root/target/release/null-server" "$out/null-server"
