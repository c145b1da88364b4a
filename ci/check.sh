#!/usr/bin/env bash
# Everything that must hold before a change lands. Bare, it runs all steps; `ci/check.sh fmt clippy` runs the named ones.
#
#   fmt       rustfmt
#   clippy    no warning, for each feature set
#   doc       rustdoc without a warning, every link right
#   test      unit, integration and documentation tests, on a Vulkan adapter (Mesa's software driver is installed when there is none),
#             then those that need no GPU once more without that feature
#   gltf      every glTF file that we write has no error in the Khronos validator; needs node and npm, says SKIP without them
#   bench     the benches compile
#   package   the published crate builds from its own files and stays under 8 MB
#   web       the page of web/ builds and passes its test in Chromium; SKIP where toolchain or browser cannot be had
#
# One profile (release) and one target folder serve all steps, so that wgpu is compiled once.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_PROGRESS_WHEN=${CARGO_TERM_PROGRESS_WHEN:-never}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
target=$CARGO_TARGET_DIR
all_steps="fmt clippy doc test gltf bench package web"

step_fmt() {
  cargo fmt --all -- --check
  cargo fmt --manifest-path web/Cargo.toml -- --check
}

step_clippy() {
  for features in "--no-default-features" "" "--features cli"; do
    # shellcheck disable=SC2086 -- an empty feature set must vanish
    cargo clippy --release --all-targets $features -- -D warnings
  done
}

step_doc() {
  RUSTDOCFLAGS="-D warnings" cargo doc --release --no-deps --features cli --document-private-items --lib
  RUSTDOCFLAGS="-D warnings" cargo doc --release --no-deps --no-default-features --lib
}

sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo -n"
apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -oAcquire::Retries=1 -oAcquire::http::Timeout=30"

# The feature `meshopt` brings a decoder in C++.
ensure_compiler() {
  if ! command -v c++ >/dev/null && command -v apt-get >/dev/null; then
    echo "no C++ compiler: installing g++"
    $apt update && $apt install -y --no-install-recommends g++
  fi
}

# The tests of a machine without any Vulkan adapter would skip half of what they are for.
ensure_adapter() {
  cargo build -q --release --features cli --example adapters
  local adapters="$target/release/examples/adapters"
  if NODEVICE_SELECT=1 "$adapters"; then
    export RIGEVAL_REQUIRE_GPU=1
    return
  fi
  if command -v apt-get >/dev/null; then
    echo "no adapter: installing Mesa's software Vulkan driver"
    if $apt update && $apt install -y --no-install-recommends mesa-vulkan-drivers libvulkan1 &&
      NODEVICE_SELECT=1 "$adapters"; then
      export RIGEVAL_REQUIRE_GPU=1
      return
    fi
  fi
  if [ -n "${CI:-}" ]; then
    echo "no adapter, and no driver could be installed" >&2
    exit 1
  fi
  echo "SKIP: no adapter, and no driver could be installed: the GPU tests will say SKIP"
  echo "      on Debian or Ubuntu: sudo apt-get install mesa-vulkan-drivers libvulkan1"
}

step_test() {
  ensure_adapter
  cargo test --release --features cli --lib --bins --tests --examples
  cargo test --release --features cli --doc
  cargo test --release --no-default-features --lib --tests
}

# The validator is installed beside the build, so that nothing of it comes near the sources.
step_gltf() {
  local tool
  for tool in node npm; do
    command -v "$tool" >/dev/null || { echo "SKIP: no $tool: the glTF files that we write are not held against the Khronos validator"; return; }
  done
  local work=$target/gltf_validator
  mkdir -p "$work/files"
  if ! cmp -s ci/gltf_validator/package.json "$work/package.json" || [ ! -d "$work/node_modules/gltf-validator" ]; then
    cp ci/gltf_validator/package.json "$work/"
    if ! npm --prefix "$work" install --no-package-lock --no-audit --no-fund --silent; then
      rm -f "$work/package.json"
      echo "SKIP: npm cannot install gltf-validator: the glTF files that we write are not held against it"
      return
    fi
  fi
  cp ci/gltf_validator/validate.mjs "$work/"
  cargo build -q --release --features cli --bin rigeval
  rm -f "$work"/files/*
  local rigeval=$target/release/rigeval files=$work/files models=../shared/data/gltf/models
  "$rigeval" sample gltf -o "$files/small.glb" >/dev/null
  "$rigeval" sample gltf --full -o "$files/full.glb" >/dev/null
  "$rigeval" bake-mesh "$files/small.glb" --clip speech --time 0.6 -o "$files/small_0.6.glb" >/dev/null
  "$rigeval" bake-mesh "$files/full.glb" --clip speech --time 1.85 -o "$files/full_1.85.glb" >/dev/null
  if [ -d "$models" ]; then
    "$rigeval" bake-mesh "$models/Fox.glb" --clip 1 --time 0.4 -o "$files/fox.glb" >/dev/null
    "$rigeval" bake-mesh "$models/CesiumMan.gltf" --clip 0 --time 0.4 -o "$files/cesium_man.glb" >/dev/null
    "$rigeval" bake-mesh "$models/AnimatedMorphCube.gltf" --clip 0 --time 0.4 -o "$files/morph_cube.glb" >/dev/null
    "$rigeval" bake-mesh "$models/mh_arkit_mixamo.glb" -o "$files/mh_arkit_mixamo.glb" >/dev/null
  fi
  node "$work/validate.mjs" packs/*.glb "$files"/*.glb
}

step_bench() {
  cargo bench --features cli --no-run
}

step_package() {
  cargo package -q --allow-dirty --no-verify
  local crate size
  crate=$(ls -t "$target"/package/rigeval-*.crate | head -n 1)
  size=$(stat -c %s "$crate" 2>/dev/null || stat -f %z "$crate")
  echo "package: $size bytes"
  [ "$size" -lt 8000000 ] || { echo "package: expected under 8000000 bytes, got $size" >&2; exit 1; }
  rm -rf "$target/package/unpacked"
  mkdir -p "$target/package/unpacked"
  tar -xzf "$crate" -C "$target/package/unpacked" --strip-components 1
  cargo build --release --features cli --manifest-path "$target/package/unpacked/Cargo.toml"
}

# What drives the page: Chromium, and node with the driver of its own package folder.
ensure_browser() {
  export RIGEVAL_CHROMIUM=${RIGEVAL_CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
  if [ -z "$RIGEVAL_CHROMIUM" ] && command -v apt-get >/dev/null; then
    echo "no browser: installing chromium"
    $apt update && $apt install -y --no-install-recommends chromium
    RIGEVAL_CHROMIUM=$(command -v chromium || true)
  fi
  [ -n "$RIGEVAL_CHROMIUM" ] || { echo "SKIP: web: no Chromium, and it could not be installed"; return 1; }
  command -v npm >/dev/null || { echo "SKIP: web: no node and npm, which drive the browser"; return 1; }
  npm ci --silent --no-audit --no-fund --prefix web/test || { echo "SKIP: web: playwright-core could not be installed"; return 1; }
}

step_web() {
  local status=0
  web/build.sh || status=$?
  # What it says where there is no toolchain.
  if [ "$status" = 3 ]; then echo "SKIP: web: no toolchain for WebAssembly, for the reason above"; return; fi
  [ "$status" = 0 ] || return "$status"
  # Debian's compiler comes without it.
  if rustup target list --installed 2>/dev/null | grep -qx wasm32-unknown-unknown; then
    cargo clippy --release --locked --target wasm32-unknown-unknown --manifest-path web/Cargo.toml -- -D warnings
  fi
  ensure_browser || return 0
  [ ! -x "$target/release/rigeval" ] || export RIGEVAL_CLI=$target/release/rigeval
  node --test --test-reporter=spec web/test/page.test.mjs
}

steps=${*:-$all_steps}
for step in $steps; do
  case " $all_steps " in *" $step "*) ;; *) echo "unknown step \"$step\": expected one of $all_steps" >&2; exit 2 ;; esac
done
[ "$steps" = fmt ] || ensure_compiler
for step in $steps; do
  echo "== $step"
  start=$SECONDS
  "step_$step"
  echo "== $step: ok, $((SECONDS - start)) s"
done
