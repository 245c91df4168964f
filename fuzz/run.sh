#!/bin/sh
# Fuzzes the parser, the readers of requests and the answers, each for some seconds: sh fuzz/run.sh 60
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
command -v cargo-fuzz >/dev/null || {
    echo "cargo-fuzz is missing: cargo install cargo-fuzz" >&2
    exit 1
}
# Sanitizers need unstable compiler flags; the variable lets a stable compiler take them.
export RUSTC_BOOTSTRAP=1
cargo fuzz run parse --sanitizer none -- -max_total_time="$seconds" -max_len=64
for dialect in chat_completions responses anthropic ollama; do
    cargo fuzz run "read_$dialect" --sanitizer none -- -max_total_time="$seconds" -max_len=256
done
cargo fuzz run reply --sanitizer none -- -max_total_time="$seconds" -max_len=64
