#!/bin/sh
rsync -a --delete /srv/mail/ vault::mail/
rc=$?
if [ $rc -eq 24 ]; then echo "$(date "+%F %T") rsync rc=24 (vanished files, accepted)"; rc=0; fi
[ $rc -eq 0 ] && snapshot daily.0
echo "$(date "+%F %T") finished OK rc=$rc"
