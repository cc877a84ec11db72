#!/bin/bash
# nightly rotation of capture files
set -euo pipefail
SRC=/var/spool/capture
KEEP=14
removed=0
kept=0

echo "rotate: source $SRC keep $KEEP days"
mapfile -t files < <(find "$SRC" -name '*.pcap.zst' -printf '%p\n' | sort)
echo "rotate: ${#files[@]} files"

for f in "${files[@]}"; do
  age=$(( ( $(date +%s) - $(stat -c %Y "$f") ) / 86400 ))
  if (( age > KEEP )); then
    rm -- "$f"
    echo "rotate: removed ${f##*/} (age ${age}d)"
    ((removed++))
  else
    ((++kept))
  fi
done

echo "rotate: removed=$removed kept=$kept"
/usr/local/bin/notify-ok rotate
