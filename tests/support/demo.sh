#!/usr/bin/env bash
# The demo: serve a synthetic web with all its faults, crawl it, and compare the crawl with what is there.
# Usage: demo.sh BATCHCRAWL, from the top of the project. Everything stays under data/demo/.
set -euo pipefail
batchcrawl=$1
data=data/demo

bold= plain=
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
say() { printf '\n%s$ %s%s\n' "$bold" "$*" "$plain"; }
run() { say "batchcrawl $*"; "$batchcrawl" "$@"; }

rm -rf "$data"
mkdir -p "$data"

say "batchcrawl fakeweb --hosts 120 --pages 3000 --seed 1 --port 8765 &"
exec 3< <(exec "$batchcrawl" fakeweb --hosts 120 --pages 3000 --seed 1 --port 8765 --clock 1796000000 \
    --slow 0.2 --truth "$data/truth.jsonl" --log "$data/requests.jsonl")
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
read -r address <&3 || { echo "demo: the synthetic web did not start; is port 8765 in use?" >&2; exit 1; }
echo "serving at $address, the truth about it in $data/truth.jsonl"

run inject demo
run crawl demo --rounds 3
say "batchcrawl crawl demo --until-done   # quietly, to the end"
"$batchcrawl" crawl demo --until-done --quiet
run segments demo
run segment demo "$("$batchcrawl" segments demo | awk 'NR == 3 {print $1}')"
run status demo
run compare demo "$data/truth.jsonl"
printf '\nLook around: ls -R %s, zstdcat %s/segments/*/fetchlist/0.jsonl.zst, zcat %s/segments/*/fetch/*.warc.gz\n' \
    "$data" "$data" "$data"
