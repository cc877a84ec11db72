#!/usr/bin/env bash
# nightly check of the object mirror
set -eu
MIRROR=${MIRROR:-mirror.txt}
EXPECT=${EXPECT:-expect.txt}
log() { echo "[$(date '+%H:%M:%S')] $*"; }
missing=0
log "expecting $(wc -l < "$EXPECT") objects"
while read -r key size; do
    if ! grep -qx "$key $size" "$MIRROR"; then
        log "missing: $key"
        ((missing++))
    fi
done < "$EXPECT"
log "missing objects: $missing"
[ "$missing" -le 20 ] || { log "too many, paging"; exit 3; }
log "writing report"
echo "$missing" > report.txt
log "report done"
