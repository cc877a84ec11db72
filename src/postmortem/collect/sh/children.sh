# The spool, the guard and the worker: how they start, how a stuck one is described, given up and replaced.
# shellcheck disable=SC2013,SC2153,SC2154,SC2034,SC2059
# (part of agent.sh: its variables are those of the other parts)

# --- the spool

alive() { # PID: exists and is not a zombie
	[ "$has_proc" = yes ] || {
		kill -0 "$1" 2>/dev/null
		return
	}
	read -r line 2>/dev/null </proc/"$1"/stat || return 1
	case ${line##*) } in Z* | X*) return 1 ;; esac
}

lives() { # PID of a shell of ours: as alive, in one look; a zombie has no program
	[ "$has_proc" = yes ] || {
		kill -0 "$1" 2>/dev/null
		return
	}
	[ -e "/proc/$1/exe" ]
}

make_spool() { # a private folder in the first place that can be written; each is tried in a child that may get stuck
	for place in "$POSTMORTEM_SPOOL" /dev/shm /run /tmp; do
		[ -n "$place" ] || continue
		try=$place/postmortem.$$.$epoch.$now # containers that share a folder have the same pids
		(
			mkdir "$try" || exit 1
			head -c 65536 /dev/zero >"$try/room" && mkfifo "$try/events" && rm "$try/room" && exit 0
			rm -rf "$try"
			exit 1
		) </dev/null >/dev/null 2>&1 &
		child=$!
		now
		patience=$((now + 100))
		while alive $child && [ "$now" -lt "$patience" ]; do
			sleep "$short"
			now
		done
		if alive $child; then
			kill -9 $child 2>/dev/null
			log spool hung 100 0 "" "$place" "the folder did not answer"
			continue
		fi
		wait $child && S=$try && return 0
	done
	return 1
}

clean_up() {
	[ -n "$worker" ] && kill_worker
	[ -n "$S$tools" ] && rm -rf ${S:+"$S"} ${tools:+"$tools"}
	[ -n "$guard" ] && kill -9 "$guard" 2>/dev/null
	[ -n "$follower" ] && kill -9 ${setsid:+"-$follower"} "$follower" 2>/dev/null
	S=
}

# --- the guard and the worker

start_guard() {
	(
		exec $setsid sh -c "$GUARD" postmortem-guard "$$" "$S" "$beat" "$((end + 50 - now))" "$fast_clock" "$has_proc" "$tools"
	) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	guard=$!
}

start_follower() { # who asked for us keeps our input open: when it is closed, nobody wants the rest
	[ "$PM_LINGERS" = yes ] || return 0
	exec 6<&0 # a child in the background gets /dev/null for input, unless it is named
	(
		# shellcheck disable=SC2016 # the follower expands it
		exec $setsid sh -c 'trap "" PIPE TERM INT HUP; cat; kill -TERM "$1"' postmortem-follower "$$"
	) <&6 >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	follower=$!
	exec 6<&-
	echo "$follower" >"$S/follower"
}

start_worker() {
	wid=$((wid + 1))
	slot=0
	mkfifo "$S/go.$wid"
	exec 4<>"$S/go.$wid"
	(
		trap - PIPE TERM INT HUP
		exec $setsid sh -c "$WORKER
serve \"\$1\" \"\$2\"" postmortem-worker "$S" "$wid"
	) </dev/null >/dev/null 2>&1 3>&- 4<"$S/go.$wid" 5>"$S/events" 6>&- 7>&- 8>&- 9>&- &
	worker=$!
	echo "$worker" >"$S/worker"
}

kill_worker() {
	[ -z "$setsid" ] || kill -9 "-$worker" 2>/dev/null # dash knows no "--" here
	kill -9 "$worker" 2>/dev/null
}

await() { # UNTIL: the worker's next answer, in $what $state $size $name $source $reason; fails when it is too late
	while :; do
		from=
		lives "$guard" || return 1 # no tick would ever end the wait
		IFS=$US read -r from what state size into source reason <&3
		[ "$from" = "$wid" ] && return 0
		[ "$from" != gone ] || stop='no process could be started'
		now
		[ "$now" -lt "$1" ] || return 1
		[ -z "$stop" ] || return 1
		parent_is_there || lost
		lives "$worker" || return 1
	done
}

parent_is_there() { # a driver that was killed cannot say so; we are somebody else's child then
	[ "$PM_FOLLOW$has_proc" = yesyes ] || return 0
	read -r line <"/proc/$$/stat" || return 0
	line=${line##*) }
	line=${line#* }
	[ "${line%% *}" = "$PPID" ]
}

family() { # stat lines of the worker's session; where there is no setsid(1), of its descendants
	if [ -n "$setsid" ]; then
		cat /proc/[0-9]*/stat | grep ") [A-Za-z] [0-9]* [0-9]* $worker "
		return
	fi
	cat /proc/[0-9]*/stat >"$S/all"
	kin=" $worker "
	for _ in 1 2 3 4; do
		for pair in $(sed 's/^\([0-9]*\) (.*) [A-Za-z] \([0-9]*\) .*/\1:\2/' "$S/all"); do
			case $kin in *" ${pair%:*} "*) continue ;; *" ${pair#*:} "*) kin="$kin${pair%:*} " ;; esac
		done
	done
	for pid in $kin; do grep "^$pid (" "$S/all"; done
}

describe() { # where do they wait?
	family | while read -r pid line; do
		comm=${line%)*}
		line=${line##*) }
		wchan=
		read -r wchan <"/proc/$pid/wchan"
		echo "$pid ${line%% *} ${wchan:-unknown} ${comm#(}"
	done
}

stacks() { # PIDS
	for pid in "$@"; do
		echo "==> /proc/$pid/stack <=="
		cat "/proc/$pid/stack"
		echo "==> /proc/$pid/syscall <=="
		cat "/proc/$pid/syscall"
	done
}

bounded() { # FUNCTION ARGS: its output to $S/bounded, given half a second in a child
	alive "$guard" || return 1
	("$@" >"$S/bounded" 2>&1 3>&-; echo bounded >&3) </dev/null >/dev/null 2>&1 4>&- &
	now
	patience=$((now + 50))
	while [ "$now" -lt "$patience" ]; do
		read -r answered <&3
		[ "$answered" = bounded ] && return 0
		[ -z "$stop" ] || return 1
		now
	done
	return 1
}

abandon() { # PROBE MEMBER SOURCE: the worker does not answer: say where it waits, kill it, see whether it dies
	stream
	took=$((now - asked))
	bounded describe
	waits=
	pids=
	stuck=
	while read -r pid status wchan comm; do
		waits="$waits${waits:+, }$comm (pid $pid) state $status wchan $wchan"
		pids="$pids $pid"
		# A stuck reader shows S until it is killed, so the channel tells more than the state.
		case $status$wchan in
		D* | ?request_wait_answer | ?fuse_* | ?rpc_* | ?nfs* | ?cifs* | ?smb* | ?ceph* | ?folio_wait* | ?wait_on_page* | ?io_schedule* | ?nv_* | ?nvidia* | ?os_acquire* | ?rm_* | ?drm_* | ?amdgpu* | ?dma_fence*) stuck=yes ;;
		esac
	done <"$S/bounded"
	# shellcheck disable=SC2086 # pids
	bounded stacks $pids && traces=$(cat "$S/bounded") || traces=
	kill_worker
	for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
	left=
	tries=0
	while [ "$tries" -lt 3 ]; do
		left=
		for pid in $pids; do alive "$pid" && left="$left $pid"; done
		[ -n "$left" ] || break
		nap
		tries=$((tries + 1))
	done
	state=timeout
	[ -z "$stuck$left" ] || state=hung
	[ -z "$stop" ] || [ -n "$stuck$left" ] || state=over-budget
	seconds=$((took / 100)).$((took / 10 % 10))
	reason="no answer for $seconds s: ${waits:-nothing is known of it}${left:+; still there after SIGKILL: pid$left}"
	abandoned="$abandoned$left"
	partial=0
	file=$S/out.$wid.$slot
	if [ -n "$2" ] && [ -s "$file" ]; then
		head -n -1 "$file" >"$S/partial" 2>/dev/null || sed '$d' "$file" >"$S/partial"
		partial=$(($(wc -c <"$S/partial")))
		[ "$partial" -eq 0 ] || member "$2" "$partial" "$S/partial"
	fi
	hangs=$((hangs + 1))
	text_member "hangs/$hangs" "probe: $1${NL}source: $3${NL}state: $state${NL}seconds: $seconds${NL}waits: $waits${NL}left:$left${NL}$traces$NL"
	into=$2
	[ "$partial" -gt 0 ] || into=
	log "$1" "$state" "$took" "$partial" "$into" "$3" "$reason"
	rm -f "$S/out.$wid".* "$S/partial"
	flush_notes
	start_worker
}
