#!/bin/sh
# report the ten biggest folders and the newest error-free backup
du -x /var/lib 2>/dev/null | sort -rn | head -n 10 > /tmp/big.txt
yes "probe" | head -n 100000 | tail -n 1
echo "status of pipeline: $?"
python3 -c "
for i in range(100000): print('row', i)
" | head -n 24
echo "report: finished, 0 errors"
