#!/bin/sh
# build.sh CONTRACT_DIR OUT: packs the application into a copy of the redbean that ASSAY_REDBEAN names. A redbean is a zip
# file too: its Lua modules live in /.lua, its start in /.init.lua, everything else where it is served from.
set -eu
contract=$1 out=$2
rm -rf "$out/zip"
mkdir -p "$out/zip/.lua"
cp "$contract/redbean/init.lua" "$out/zip/.init.lua"
cp -R "$contract/lua/." "$out/zip/.lua"
cp -R "$contract/assets" "$contract/pages" "$contract/schema.sql" "$contract/data.sql" "$out/zip"
cp "$ASSAY_REDBEAN" "$out/petclinic.com"
chmod u+rwx "$out/petclinic.com"
cd "$out/zip"
zip -q -r -D -X "$out/petclinic.com" .
