#!/bin/sh
# postmortem's agent: saves evidence of a failed machine as a tar stream on standard output. POSIX sh; needs coreutils or
# busybox. Rendered by postmortem.collect.agent: the lines that begin with #@ are replaced.
#
# This shell touches its spool and /proc/{uptime,mounts,PID/stat} only. All else is opened by the worker, a child with its
# own session that is given up, never waited for, when it does not answer in time. The guard, a second child, ticks the
# clock, ends everything at the deadline and cleans up when this shell is gone.

# shellcheck disable=SC2016,SC2059,SC2317,SC2034,SC2153
# (the children's texts stand in quotes; escaped zeros are formats; plan() calls what stands here; the worker uses settings)

#@SETTINGS@

US=$(printf '\037')
NL='
'
ZEROS='\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
ASCII=" !\"#\$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\`abcdefghijklmnopqrstuvwxyz{|}~"

# --- time, in hundredths of a second

now() { # sets $now
	if [ "$fast_clock" = yes ]; then
		read -r up _ </proc/uptime
		part=${up#*.}
		now=$((${up%.*} * 100 + ${part#0}))
	else
		now=$(($(date +%s) * 100))
	fi
}

start_clock() { # lxcfs serves /proc/uptime over FUSE: then it may hang, and date(1) has to do
	fast_clock=no
	while read -r _ mount _; do
		[ "$mount" = /proc/uptime ] && lxcfs=yes
	done </proc/mounts
	[ -z "$lxcfs" ] && [ -r /proc/uptime ] && fast_clock=yes
	now
	started=$now
	stamps=$(date -u '+%s %Y-%m-%dT%H:%M:%SZ')
	epoch=${stamps%% *}
	end=$((now + PM_DEADLINE_CS))
}

nap() { sleep "$beat"; } # one beat, where there is no event to wait for

# --- tar

lost() { # the reader is gone: nobody is left to write for
	clean_up
	exit 1
}

zeros() { # N: sets $zeros, an escaped string for printf
	zeros=
	fill=$1
	while [ "$fill" -ge 16 ]; do zeros=$zeros$ZEROS fill=$((fill - 16)); done
	while [ "$fill" -gt 0 ]; do zeros=$zeros'\000' fill=$((fill - 1)); done
}

add_up() { # TEXT: adds its bytes to $sum
	rest=$1
	while [ -n "$rest" ]; do
		before=${ASCII%%"${rest%"${rest#?}"}"*}
		sum=$((sum + 32 + ${#before}))
		rest=${rest#?}
	done
}

add_octal() { # NUMBER: adds the bytes of its 11 octal digits to $sum
	digits=$1
	i=11
	while [ "$i" -gt 0 ]; do
		sum=$((sum + 48 + digits % 8)) digits=$((digits / 8)) i=$((i - 1))
	done
}

header() { # NAME BYTES
	name=$1
	prefix=
	while [ ${#name} -gt 100 ]; do # ustar: at most 155 bytes of folders, 100 of the rest
		case ${name#?} in */*) ;; *) break ;; esac
		prefix=${prefix:+$prefix/}${name%%/*}
		name=${name#*/}
	done
	while [ ${#name} -gt 100 ]; do name=${name#?}; done
	while [ ${#prefix} -gt 155 ]; do prefix=${prefix#?}; done
	mtime=$((epoch + (now - started) / 100))
	sum=1973 # of the fields that never change, and of eight blanks in the place of the sum
	add_up "$name$prefix"
	add_octal "$2"
	add_octal "$mtime"
	zeros $((100 - ${#name}))
	after_name=$zeros
	zeros $((167 - ${#prefix}))
	after_prefix=$zeros
	zeros 100
	link=$zeros
	zeros 80
	printf "%s${after_name}0000600\\0000000000\\0000000000\\000%011o\\000%011o\\000%06o\\000 0${link}ustar\\00000$zeros%s$after_prefix" \
		"$name" "$2" "$mtime" "$sum" "$prefix" 2>/dev/null || lost
}

padding() { # BYTES
	[ $(($1 % 512)) -eq 0 ] && return
	zeros $((512 - $1 % 512))
	printf "$zeros" 2>/dev/null || lost
}

member() { # NAME BYTES FILE: exactly so many bytes of the file
	header "$1" "$2"
	if [ "$2" -gt 0 ]; then
		head -c "$2" "$3" 2>/dev/null || lost
		padding "$2"
	fi
	members=$((members + 1))
	sent=$((sent + $2))
}

text_member() { # NAME TEXT
	size_of=${#2}
	[ "$counts_bytes" = yes ] || size_of=$(($(printf '%s' "$2" | wc -c)))
	header "$1" "$size_of"
	printf '%s' "$2" 2>/dev/null || lost
	padding "$size_of"
	members=$((members + 1))
}

safe_name() { # PATH: sets $safe, the same with plain characters only
	safe=${1#/}
	case $safe in
	*[!A-Za-z0-9._/@%+=:,-]* | *..*)
		safe=$(printf '%s' "$safe" | tr -c 'A-Za-z0-9._/@%+=:,-' _ | sed 's/\.\.*\./_/g')
		case ${safe##*/} in # two names may look the same now
		*.*) safe=${safe%.*}~$step.${safe##*.} ;;
		*) safe=$safe~$step ;;
		esac
		;;
	esac
}

# --- what became of each probe

log() { # PROBE STATE HUNDREDTHS BYTES MEMBER SOURCE REASON
	seconds=$(($3 / 100)).$(($3 / 10 % 10))$(($3 % 10))
	notes="$notes$1	$2	$seconds	$4	${5:--}	${6:--}	${7:--}$NL"
	states="$states $2"
}

flush_notes() {
	[ -n "$notes" ] || return 0
	note_count=$((note_count + 1))
	text_member "notes/$note_count" "# probe	state	seconds	bytes	member	source	reason$NL$notes"
	notes=
}

# --- the spool

alive() { # PID: exists and is not a zombie
	read -r line 2>/dev/null </proc/"$1"/stat || return 1
	case ${line##*) } in Z* | X*) return 1 ;; esac
}

make_spool() { # a private folder in the first place that can be written; each is tried in a child that may get stuck
	for place in "$POSTMORTEM_SPOOL" /dev/shm /run /tmp; do
		[ -n "$place" ] || continue
		try=$place/postmortem.$$
		(mkdir -m 700 "$try" && head -c 65536 /dev/zero >"$try/room" && mkfifo -m 600 "$try/events" && rm "$try/room") </dev/null >/dev/null 2>&1 &
		child=$!
		tries=0
		while alive $child && [ "$tries" -lt 20 ]; do
			nap
			tries=$((tries + 1))
		done
		if alive $child; then
			kill -9 $child 2>/dev/null
			log spool hung 100 0 "" "$place" "the folder did not answer"
			continue
		fi
		[ -p "$try/events" ] && [ ! -e "$try/room" ] && S=$try && return 0
		rm -rf "$try" 2>/dev/null
	done
	return 1
}

clean_up() {
	[ -n "$worker" ] && kill_worker
	[ -n "$S" ] && rm -rf "$S"
	[ -n "$guard" ] && kill -9 "$guard" 2>/dev/null
	S=
}

# --- the guard and the worker

start_guard() {
	(
		exec $setsid sh -c "$GUARD" postmortem-guard "$$" "$S" "$beat" "$((end + 50))" "$fast_clock" "$epoch"
	) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	guard=$!
}

start_worker() {
	wid=$((wid + 1))
	mkfifo -m 600 "$S/go.$wid"
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
		IFS=$US read -r from what state size into source reason <&3 || continue
		[ "$from" = "$wid" ] && return 0
		now
		[ "$now" -lt "$1" ] || return 1
		[ -z "$stop" ] || return 1
		parent_is_there || lost
	done
}

parent_is_there() { # a driver that was killed cannot say so; we are somebody else's child then
	[ "$PM_FOLLOW" = yes ] || return 0
	read -r line <"/proc/$$/stat" || return 0
	line=${line##*) }
	line=${line#* }
	[ "${line%% *}" = "$PPID" ]
}

describe() { # the tasks of the worker's session: where do they wait?
	cat /proc/[0-9]*/stat 2>/dev/null | grep ") [A-Za-z] [0-9]* [0-9]* $worker " | while read -r pid line; do
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
	("$@" >"$S/bounded" 2>&1 3>&-; echo bounded >&3) </dev/null >/dev/null 2>&1 4>&- &
	now
	patience=$((now + 50))
	while [ "$now" -lt "$patience" ]; do
		read -r answered <&3 || continue
		[ "$answered" = bounded ] && return 0
		now
	done
	return 1
}

abandon() { # PROBE MEMBER SOURCE: the worker does not answer: say where it waits, kill it, see whether it dies
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
	if [ -n "$2" ] && [ -s "$S/out.$wid" ]; then
		head -n -1 "$S/out.$wid" >"$S/partial" 2>/dev/null || sed '$d' "$S/out.$wid" >"$S/partial"
		partial=$(($(wc -c <"$S/partial")))
		[ "$partial" -eq 0 ] || member "$2" "$partial" "$S/partial"
	fi
	hangs=$((hangs + 1))
	text_member "hangs/$hangs" "probe: $1${NL}source: $3${NL}state: $state${NL}seconds: $seconds${NL}waits: $waits${NL}left:$left${NL}$traces$NL"
	into=$2
	[ "$partial" -gt 0 ] || into=
	log "$1" "$state" "$took" "$partial" "$into" "$3" "$reason"
	rm -f "$S/out.$wid" "$S/partial"
	flush_notes
	start_worker
}

# --- requests

limit() { # HUNDREDTHS: sets $until; a probe never takes more than half of what is left
	now
	room=$(((end - now) / 2))
	[ "$1" -lt "$room" ] && room=$1
	until=$((now + room))
}

ask() { # PROBE WHAT HUNDREDTHS BYTES MEMBER EXPLICIT ARGUMENT: one request, until its end; $paths are what it found
	paths=
	step=$((step + 1))
	now
	asked=$now
	if [ -n "$stop" ] || [ "$now" -ge "$end" ]; then
		log "$1" over-budget 0 0 "" "$7" "${stop:-the deadline}"
		return 1
	fi
	limit "$3"
	printf '%s\037%s\037%s\037%s\037%s\n' "$2" "$4" "$5" "$6" "$7" >&4
	answers=0
	while :; do
		await "$until" || {
			source=$7
			[ "$2" = run ] && source=$5
			abandon "$1" "$5" "$source"
			return 2
		}
		case $what in
		e) break ;;
		p) paths="$paths$source$NL" && continue ;;
		m)
			now
			member "$into" "$size" "$S/out.$wid"
			echo >&4
			;;
		esac
		now
		log "$1" "$state" $((now - asked)) "$size" "$into" "$source" "$reason"
		answers=$((answers + 1))
		asked=$now
	done
	case $2 in glob | list | full | scripts | mounts) return 0 ;; esac
	[ "$answers" != 0 ] || log "$1" empty $((now - asked)) 0 "" "$7" "nothing to tell"
	return 0
}

probe() { # PROBE WHAT HUNDREDTHS BYTES MEMBER ARGUMENT
	[ "$2" = run ] && [ "$gpu_is_stuck" = yes ] && case $1 in gpu.nvidia-smi* | gpu.information)
		log "$1" over-budget 0 0 "" "$5" "not asked: the driver did not answer before"
		return
		;;
	esac
	ask "$1" "$2" "$3" "$4" "$5" no "$6"
	[ $? -eq 2 ] && case $1 in gpu.nvidia-smi* | gpu.information) gpu_is_stuck=yes ;; esac
}

mount_of() { # PATH: sets $mount_point, from the text of /proc/mounts
	mount_point=/
	while read -r _ mount _; do
		case $1/ in "${mount%/}"/*) [ ${#mount} -lt ${#mount_point} ] || mount_point=$mount ;; esac
	done </proc/mounts
}

careful() { # PROBE WHAT HUNDREDTHS BYTES MEMBER EXPLICIT PATH: as ask, but a mount that got us stuck gets little time
	grant=$3
	for dead in $dead_mounts; do
		case $7/ in "$dead"/*) grant=$((grant / 3)) ;; esac
	done
	if [ "$grant" -lt $(($3 / 20)) ]; then # three times stuck
		log "$1" hung 0 0 "" "$7" "not tried: its file system did not answer three times"
		return 0
	fi
	ask "$1" "$2" "$grant" "$4" "$5" "$6" "$7"
	[ $? -eq 2 ] || return 0
	mount_of "$7"
	[ "$mount_point" = / ] || dead_mounts="$dead_mounts $mount_point"
	stuck_paths="$stuck_paths$7$NL"
	return 1
}

known() { # LIST PATH
	case $NL$1 in *"$NL$2$NL"*) return 0 ;; esac
	return 1
}

find_paths() { # PROBE PATTERN EXPLICIT: sets $paths
	case $2 in
	*[*?[]*/*) careful "$1" glob 100 0 "" "$3" "$2" ;;
	*[*?[]*) careful "$1" list 100 0 "" "$3" "$2" ;;
	*) if [ "$3" = yes ]; then paths=$2$NL; else careful "$1" glob 50 0 "" no "$2"; fi ;;
	esac
}

logs() { # PATTERN LABEL EXPLICIT: what the pattern finds joins $log_paths
	pattern=$1
	case $pattern in /*) ;; *) pattern=$here/$pattern ;; esac
	find_paths "logs.glob:$pattern" "$pattern" "$3"
	[ -n "$paths" ] || { [ "$3" = no ] || known "$stuck_paths" "$pattern" || log "logs.glob:$pattern" missing 0 0 "" "$pattern" "no file has such a name"; }
	found=$paths
	while [ -n "$found" ]; do
		path=${found%%"$NL"*}
		found=${found#*"$NL"}
		known "$log_paths" "$path" && continue
		[ "$3" = yes ] || [ "$log_count" -lt 80 ] || continue
		log_count=$((log_count + 1))
		log_paths="$log_paths$path$NL"
		tail_of "$path" "$2" "$3"
	done
}

tail_of() { # PATH LABEL EXPLICIT
	safe_name "${2:-$1}"
	[ -z "$2" ] || ! known "$labels" "$safe" || safe=$safe.$log_count
	labels="$labels$safe$NL"
	careful "logs.tail:$1" tail 100 "$PM_TAIL_BYTES" "logs/tail/$safe" "$3" "$1"
	log_members="$log_members$safe$NL"
}

full_logs() {
	todo=$log_paths
	names=$log_members
	while [ -n "$todo" ]; do
		path=${todo%%"$NL"*} todo=${todo#*"$NL"}
		safe=${names%%"$NL"*} names=${names#*"$NL"}
		known "$stuck_paths" "$path" && continue
		if [ "$sent" -ge "$PM_RAW_BYTES" ]; then
			log "logs.full:$path" over-budget 0 0 "" "$path" "the size limit"
			continue
		fi
		careful "logs.full:$path" full 300 $((PM_PART_BYTES * 3)) "logs/full/$safe" no "$path"
	done
}

each_path() { # PROBE WHAT HUNDREDTHS BYTES FOLDER LIST
	todo=$6
	while [ -n "$todo" ]; do
		path=${todo%%"$NL"*} todo=${todo#*"$NL"}
		known "$done_paths" "$1$path" && continue
		done_paths="$done_paths$1$path$NL"
		safe_name "$path"
		careful "$1:$path" "$2" "$3" "$4" "$5/$safe" yes "$path"
	done
}

script() { # PATTERN EXPLICIT
	pattern=$1
	case $pattern in /*) ;; *) pattern=$here/$pattern ;; esac
	find_paths "scripts.glob:$pattern" "$pattern" "$2"
	each_path scripts script 200 262144 scripts "$paths"
}

running_scripts() {
	ask scripts.running scripts 100 0 "" no all
	each_path scripts script 200 262144 scripts "$paths"
}

far_mounts() {
	ask disk.mounts-far mounts 50 0 "" no all
	each_path disk.df-mount mount 50 4096 disk/mount "$paths"
}

second_sample() {
	[ "$PM_SAMPLE_CS" -gt 0 ] || return 0
	now
	until=$((started + PM_SAMPLE_CS))
	while [ "$now" -lt "$until" ] && [ "$now" -lt $((end - 50)) ] && [ -z "$stop" ]; do
		read -r _ <&3
		now
	done
	ask sample2 again 100 65536 sample2/counters no all
}

tier() { flush_notes; } # NAME

start_member() {
	read -r host </proc/sys/kernel/hostname || host=unknown
	text_member START "schema: postmortem/capture/v1
version: $PM_VERSION
redacted: no
host: $host
incident: $PM_INCIDENT
argv: $PM_ARGV
deadline_s: $((PM_DEADLINE_CS / 100)).$((PM_DEADLINE_CS / 10 % 10))
started: ${stamps#* }
pid: $$
"
}

end_member() {
	flush_notes
	now
	complete=yes
	case "$states " in *" over-budget "*) complete=no ;; esac
	# A second look at what could not be killed.
	there=
	for pid in $abandoned; do alive "$pid" && there="$there $pid"; done
	text_member END "complete: $complete
reason: ${stop:-end of the plan}
members: $((members + 1))
seconds: $(((now - started) / 100)).$(((now - started) / 10 % 10))
left_behind:$there
"
	zeros 1024
	printf "$zeros" 2>/dev/null || lost
}

main() {
	PM_CALLER_PATH=$PATH
	PM_TZ=$TZ
	PM_MAIN=$$
	here=${PWD%/}
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
	LC_ALL=C
	TZ=UTC
	export PATH LC_ALL TZ PM_CALLER_PATH PM_TZ PM_MAIN PM_PLACES PM_TAIL_BYTES PM_PART_BYTES
	unset LD_PRELOAD LD_LIBRARY_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH BASH_ENV ENV CDPATH
	unset IFS
	umask 077
	[ -n "$POSTMORTEM_DEBUG" ] || exec 2>/dev/null
	cd /
	S='' worker='' guard='' stop='' notes='' states='' lxcfs='' abandoned='' dead_mounts='' stuck_paths='' done_paths=''
	log_paths='' log_members='' labels='' gpu_is_stuck='' other=''
	members=0 sent=0 note_count=0 hangs=0 step=0 wid=0 log_count=0
	two=$(printf '\303\251')
	counts_bytes=no
	[ ${#two} -ne 2 ] || counts_bytes=yes
	trap '' PIPE
	trap 'stop=SIGTERM' TERM
	trap 'stop=SIGINT' INT
	trap 'stop=SIGHUP' HUP
	start_clock
	start_member
	beat=0.05
	sleep 0.01 2>/dev/null || beat=1
	setsid=
	if command -v setsid >/dev/null; then setsid=setsid; elif command -v busybox >/dev/null; then setsid='busybox setsid'; fi
	if make_spool; then
		exec 3<>"$S/events"
		start_guard
		start_worker
		plan
	else
		log spool missing 0 0 "" "/dev/shm" "no place for a spool can be written"
		bare
	fi
	end_member
	clean_up
}

bare() { # no spool: what a variable can hold, of files that always answer
	for file in /proc/uptime /proc/meminfo /proc/loadavg /proc/self/cgroup /proc/self/mounts; do
		text=
		while IFS= read -r line; do text=$text$line$NL; done <$file
		text_member "host/${file##*/}" "$text"
		log "host.${file##*/}" whole 0 ${#text} "host/${file##*/}" $file ""
	done
	text=
	for dir in /proc/[0-9]*; do
		line=
		read -r line <"$dir/stat" && text="$text==> $dir/stat <==$NL$line$NL$NL"
		[ ${#text} -lt 262144 ] || break
	done 2>/dev/null
	text_member proc/sweep/stat "$text"
	log proc.sweep.stat whole 0 ${#text} proc/sweep/stat /proc ""
}

# The guard: $1 agent, $2 spool, $3 beat, $4 the latest end, $5 fast clock, $6 epoch
GUARD='
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
'

#@WORKER@

#@PLAN@

main
exit
