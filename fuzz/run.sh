#!/bin/sh
# Fuzzes the parser, the readers of requests and the answers: sh fuzz/run.sh SECONDS [TARGET...]
# FUZZ_SANITIZER=address needs a nightly compiler.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
test $# -eq 0 || shift
test $# -gt 0 || set -- parse prefill reply read
command -v cargo-fuzz >/dev/null || {
    echo "cargo-fuzz is missing: cargo install cargo-fuzz --locked" >&2
    exit 1
}
# The coverage that guides the search needs unstable compiler flags; the variable lets a stable compiler take them.
export RUSTC_BOOTSTRAP=1
for target; do
    case $target in
        read) form=bodies length=512 ;;
        *) form=tokens length=192 ;;
    esac
    mkdir -p "fuzz/corpus/$target"
    # An input may be slow, but none takes ten seconds.
    cargo fuzz run "$target" --sanitizer "${FUZZ_SANITIZER:-none}" "fuzz/corpus/$target" "fuzz/seeds/$form" -- \
        -dict="fuzz/$form.dict" -max_len="$length" -timeout=10 -max_total_time="$seconds"
done
