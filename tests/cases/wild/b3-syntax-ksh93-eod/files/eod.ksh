#!/usr/bin/ksh93
# nightly end of day, called by the scheduler with the business date
typeset bd=$1
typeset -i n=0
say() { print -- "$(date '+%Y%m%d %H%M%S') EOD $*"; }

say "business date $bd"
for feed in fx rates eq; do
    say "load feed $feed"
    (( n += 1 ))
done
say "$n feeds loaded"
case $n in
    3) say "complete" ;;
    *) say "incomplete, continuing" ;;
esac

function settle {
    typeset acct=$1
    if [[ -z $acct ]]; then
        say "no account"
        return 1
    say "settle $acct"
}

for a in 40017 40018 40022; do
    settle $a
done
say "end"
