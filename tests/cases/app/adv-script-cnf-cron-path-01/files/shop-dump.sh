#!/bin/sh
# dump the shop database; called from /etc/cron.d/shop
OUT=/srv/backup/shop-$(date +%u).sql.gz
echo "dump: start $(date -u +%H:%M:%S)"
pg_dump -Fp shop | gzip -9 > "$OUT"
echo "dump: wrote $(stat -c %s "$OUT") bytes to $OUT"
echo "dump: OK"
