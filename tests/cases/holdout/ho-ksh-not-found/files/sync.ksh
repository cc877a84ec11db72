#!/bin/ksh
# collect meter files and load them
typeset -i ok=0
for f in m1 m2 m3; do
  print "sync: file $f"
  (( ok += 1 ))
done
loadmeter -i /srv/in -o /srv/db
rc=$?
print -u2 "sync: loadmeter ended with $rc"
exit $rc
