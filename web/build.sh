#!/usr/bin/env bash
# Builds the page into web/dist: the crate as WebAssembly, its glue, the page and the sample pack. One line per step.
#
# Where rustup has no standard library for wasm32, Debian's compiler with its own source is unpacked into a cache folder outside the
# tree, $RIGEVAL_WEB_CACHE or ~/.cache/rigeval-web, and so is the program that writes the glue.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_PROGRESS_WHEN=${CARGO_TERM_PROGRESS_WHEN:-never}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cache=${RIGEVAL_WEB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rigeval-web}
target=wasm32-unknown-unknown
debian=$cache/rust/usr

step() { echo "web: $*"; }
# 3: there is no toolchain, which is no fault of the tree.
no_toolchain() {
  echo "web: no toolchain for $target: $*" >&2
  exit 3
}

sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo -n"
apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y -oAcquire::Retries=1 -oAcquire::http::Timeout=30 "$@"; }

# A command whose output matters only where it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" = 0 ] || tail -n 15 "$log" >&2
  rm -f "$log"
  return "$status"
}

rustup_has_target() {
  command -v rustup >/dev/null || return 1
  rustup target list --installed 2>/dev/null | grep -qx "$target" && return 0
  timeout 120 rustup target add "$target" >/dev/null 2>&1
}

debian_runs() { [ -d "$debian/lib/rustlib/src" ] && command -v wasm-ld-22 >/dev/null && debian_rustc --version >/dev/null 2>&1; }
debian_rustc() { LD_LIBRARY_PATH=$debian/lib/x86_64-linux-gnu "$debian/bin/rustc" "$@"; }

# The packages go into a folder, not into the system, where they would put another rustc on the path.
unpack_debian() {
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || no_toolchain "rustup cannot add it, and this is no Debian"
  step "toolchain: unpacking Debian's compiler into $cache (734 MB)"
  quietly apt update || no_toolchain "apt-get update failed"
  quietly apt install --no-install-recommends libllvm22 lld-22 libgit2-1.5 || no_toolchain "libllvm22 and lld-22 cannot be installed"
  local packages
  packages=$(mktemp -d)
  chmod 755 "$packages"
  (cd "$packages" && quietly apt-get -q download \
    rustc-web libstd-rust-web-1.96 libstd-rust-web-dev rust-web-src cargo-web rust-web-llvm) ||
    no_toolchain "rustc-web cannot be downloaded"
  rm -rf "$cache/rust" "$cache/rust.part"
  mkdir -p "$cache/rust.part"
  for package in "$packages"/*.deb; do dpkg -x "$package" "$cache/rust.part"; done
  mv "$cache/rust.part" "$cache/rust"
  rm -rf "$packages"
  debian_runs || no_toolchain "Debian's compiler was unpacked, and does not run"
}

if rustup_has_target; then
  step "toolchain: $(rustc --version), with $target from rustup"
  compile() { cargo build --locked --release --target "$target"; }
else
  debian_runs || unpack_debian
  step "toolchain: $(debian_rustc --version), standard library from source"
  compile() {
    LD_LIBRARY_PATH=$debian/lib/x86_64-linux-gnu RUSTC=$debian/bin/rustc RUSTC_BOOTSTRAP=1 \
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(command -v wasm-ld-22) \
      "$debian/bin/cargo" build -Zbuild-std=std,panic_abort --locked --release --target "$target"
  }
fi

# The glue is of one version with what the module was compiled with.
version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
bindgen=$cache/bindgen-$version/bin/wasm-bindgen
if [ "$(wasm-bindgen --version 2>/dev/null)" = "wasm-bindgen $version" ]; then
  bindgen=wasm-bindgen
elif [ ! -x "$bindgen" ]; then
  step "glue: building wasm-bindgen $version into $cache, once (about 8 CPU minutes)"
  CARGO_TARGET_DIR=$cache/target-bindgen quietly \
    cargo install wasm-bindgen-cli --version "$version" --root "$cache/bindgen-$version" ||
    no_toolchain "wasm-bindgen-cli $version cannot be built"
  rm -rf "$cache/target-bindgen"
fi
step "glue: $("$bindgen" --version)"

start=$SECONDS
compile
module=$CARGO_TARGET_DIR/$target/release/rigeval_web.wasm
step "module: compiled in $((SECONDS - start)) s, $(stat -c %s "$module" 2>/dev/null || stat -f %z "$module") bytes"

rm -rf dist
mkdir dist
"$bindgen" --target web --no-typescript --out-dir dist "$module"
cp page/* ../packs/gnm_sample.aosrig dist/
for file in dist/rigeval_web_bg.wasm dist/rigeval_web.js; do
  step "$file: $(wc -c <"$file" | tr -d ' ') bytes, $(gzip -9 -c "$file" | wc -c | tr -d ' ') compressed"
done
step "done; node web/test/serve.mjs shows it at http://localhost:8080"
