# The second child of agent.sh: ticks its clock, ends it when it passes its deadline, and cleans up when it is gone.
# $1 agent, $2 spool, $3 beat, $4 hundredths of a second until its latest end, $5 whether /proc/uptime may be read,
# $6 whether there is a /proc, $7 a folder of tools that goes with the spool

trap "" PIPE TERM INT HUP
exec 3>"$2/events"

alive() {
	[ "$6" = yes ] || {
		kill -0 "$1"
		return
	}
	read -r line </proc/"$1"/stat || return 1
	case ${line##*) } in Z*) return 1 ;; esac
}

now() {
	if [ "$5" = yes ]; then
		read -r up _ </proc/uptime
		part=${up#*.}
		now=$((${up%.*} * 100 + ${part#0}))
	else
		tick=$(date +%s)
		moved=$((tick - last_tick)) # a clock that is set meanwhile
		[ "$moved" -ge 0 ] && [ "$moved" -lt 60 ] || moved=0
		last_tick=$tick
		now=$((now + moved * 100))
	fi
}

# When it cannot fork, it says so: the agent would wait for a tick that never comes.
trap 'echo gone >&3; kill -TERM "$1"' EXIT

now=0
last_tick=$(date +%s)
now "$@"
end=$((now + $4))
while alive "$@"; do
	sleep "$3"
	echo tick >&3 || break
	now "$@"
	[ "$now" -lt "$end" ] || kill -9 "$1"
done
trap - EXIT
for file in "$2/worker" "$2/follower"; do
	read -r child <"$file" && kill -9 "-$child"
	kill -9 "$child" 2>/dev/null
done
rm -rf "$2" ${7:+"$7"}
