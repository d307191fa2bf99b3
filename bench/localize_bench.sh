#!/usr/bin/env bash
# The study's finding in one run: localize on a made GPT-2 small and its 11-token prompt, January
# against December on AVX2 kernels, up to both orders of additions. Prints the seconds that it takes
# once both builds and runners are there, and exits with 1 above 60.
#
#   bench/localize_bench.sh [PROGRAM]        (default: the release build's)
set -euo pipefail

limit=60
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$(realpath "${1:-$root/build/release/src/cli/driftaudit}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$program" builds add january-2022 december-2022 --quiet >/dev/null
"$program" model make --preset gpt2-small --seed 7 --format safetensors --out made --quiet >/dev/null
localize() {
  "$program" localize january-2022 december-2022 --model made --quiet --out report.json \
    --env ATEN_CPU_CAPABILITY=avx2 --prompt 'Q: What is 17 times 23?\nA:' "$@"
}
localize --no-isolation >/dev/null # the canonical weights are made on the first run

begin=$(date +%s.%N)
localize >table.txt
seconds=$(echo "$(date +%s.%N) $begin" | awk '{printf "%.1f", $1 - $2}')
grep -q 'softmax changed by itself, in each of 12 blocks' table.txt || {
  echo "error: the run did not find softmax in each block" >&2
  exit 1
}
echo "localize, 12 layers, 11 tokens, with isolation and both orders: $seconds s (limit $limit s)"
awk -v seconds="$seconds" -v limit="$limit" 'BEGIN { exit !(seconds <= limit) }'
