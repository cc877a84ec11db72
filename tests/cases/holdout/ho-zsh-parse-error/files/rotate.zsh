#!/usr/bin/env zsh
# rotate result folders and keep the last seven
setopt extended_glob
base=${1:-/srv/results}
stamp=$(date +%Y%m%d)
print "rotate: base=$base stamp=$stamp"
for dir in $base/*(/N); do
  print "rotate: checking $dir"
  if [[ ${dir:t} == run-* ]]; then
    mv $dir $base/old/
  fi
done
if (( $# > 1 )); then
  print "rotate: extra arguments ignored"
  case $2 in
    keep) print keep ;;
    drop) print drop ;;
fi
print "rotate: done"
