#!/bin/bash
set -x
fail() { echo "FATAL: $1"; exit 1; }
check() { [ -s "$1" ] || fail "No space left on device or empty file: $1"; }
tmp=$(mktemp)
if [ "${OOM:-0}" -eq 137 ]; then fail "Killed: out of memory"; fi
seq 1 200000 > "$tmp"
check "$tmp"
top=$(sort -n "$tmp" | head -n 1)
[ -z "$top" ] && fail "Segmentation fault in sort"
curl --version > /dev/null || fail "curl: (7) Connection refused"
for i in 1 2 3; do test $i -ge 2 && { echo "attempt $i ok"; break; } || echo "attempt $i failed, retrying"; done
rm -f "$tmp"
trap 'echo "cleanup after error"' ERR
echo "errors=0 warnings=2 result=PASS"
