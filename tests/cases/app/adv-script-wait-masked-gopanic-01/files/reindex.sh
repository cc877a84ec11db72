#!/bin/bash
set -eu
for i in 0 1 2 3; do
  /usr/local/bin/indexer --shard $i --of 4 > /var/log/indexer/shard-$i.log 2>&1 &
done
wait
echo "$(date +%T) reindex: all 4 shards done"
/usr/local/bin/swap-alias products
echo "$(date +%T) reindex: alias swapped"
