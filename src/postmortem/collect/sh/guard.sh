# The second child of agent.sh: ticks its clock, ends it when it passes its deadline, and cleans up when it is gone.
# $1 agent, $2 spool, $3 beat, $4 the latest end in hundredths of a second, $5 whether /proc/uptime may be read

trap "" PIPE TERM INT HUP
exec 3>"$2/events"
while read -r line 2>/dev/null </proc/"$1"/stat; do
	case ${line##*) } in Z*) break ;; esac
	sleep "$3"
	echo tick >&3 || break
	if [ "$5" = yes ]; then
		read -r up _ </proc/uptime
		part=${up#*.}
		now=$((${up%.*} * 100 + ${part#0}))
	else
		now=$(($(date +%s) * 100))
	fi
	[ "$now" -lt "$4" ] || kill -9 "$1"
done
read -r worker <"$2/worker" && kill -9 "-$worker"
kill -9 "$worker" 2>/dev/null
rm -rf "$2"
