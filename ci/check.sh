#!/usr/bin/env bash
# Everything that must hold before a change lands. Bare, it runs all steps; `ci/check.sh fmt clippy` runs the named ones.
#
#   fmt       rustfmt
#   clippy    no warning, for each feature set
#   doc       rustdoc without a warning, every link right
#   test      unit, integration and documentation tests, on a Vulkan adapter (Mesa's software driver is installed when there is none)
#   bench     the benches compile
#   package   the published crate builds from its own files and stays under 8 MB
#
# One profile (release) and one target folder serve all steps, so that wgpu is compiled once.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_PROGRESS_WHEN=${CARGO_TERM_PROGRESS_WHEN:-never}
target=${CARGO_TARGET_DIR:-target}
all_steps="fmt clippy doc test bench package"

step_fmt() {
  cargo fmt --all -- --check
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

# The tests of a machine without any Vulkan adapter would skip half of what they are for.
ensure_adapter() {
  if cargo run -q --release --features cli --example adapters; then
    export RIGEVAL_REQUIRE_GPU=1
    return
  fi
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo -n"
  if command -v apt-get >/dev/null; then
    echo "no adapter: installing Mesa's software Vulkan driver"
    if $sudo apt-get update -q && $sudo apt-get install -qy --no-install-recommends mesa-vulkan-drivers libvulkan1; then
      cargo run -q --release --features cli --example adapters
      export RIGEVAL_REQUIRE_GPU=1
      return
    fi
  fi
  if [ -n "${CI:-}" ]; then
    echo "no adapter, and no driver could be installed" >&2
    exit 1
  fi
  echo "SKIP: no adapter, and no driver could be installed; the GPU tests say SKIP"
}

step_test() {
  ensure_adapter
  cargo test --release --features cli --lib --bins --tests --examples
  cargo test --release --features cli --doc
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
  CARGO_TARGET_DIR=$(cd "$target" && pwd) cargo build --release --features cli --manifest-path "$target/package/unpacked/Cargo.toml"
}

for step in ${*:-$all_steps}; do
  case " $all_steps " in *" $step "*) ;; *) echo "unknown step \"$step\": expected one of $all_steps" >&2; exit 2 ;; esac
  echo "== $step"
  start=$SECONDS
  "step_$step"
  echo "== $step: ok, $((SECONDS - start)) s"
done
