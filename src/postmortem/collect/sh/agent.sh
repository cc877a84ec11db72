#!/bin/sh
# postmortem's agent: saves evidence of a failed machine as a tar stream on standard output. POSIX sh; needs coreutils or
# busybox. Rendered by postmortem.collect.agent: the lines that begin with #@ are replaced.
#
# This shell touches its spool and /proc/{uptime,mounts,PID/stat} only. All else is opened by the worker, a child with its
# own session that is given up, never waited for, when it does not answer in time. The guard, a second child, ticks the
# clock, ends everything at the deadline and cleans up when this shell is gone.

# shellcheck disable=SC2013,SC2016,SC2059,SC2317,SC2034,SC2153,SC2154
# (the children's texts stand in quotes; escaped zeros are formats; plan() calls what stands here; the worker uses settings)

#@SETTINGS@

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
		tick=$(date +%s)
		# It may be set while we run: such a step is no time.
		moved=$((tick - last_tick))
		[ "$moved" -ge 0 ] && [ "$moved" -lt 60 ] || moved=0
		last_tick=$tick
		now=$((now + moved * 100))
	fi
}

start_clock() { # lxcfs serves /proc/uptime over FUSE: then it may hang, and date(1) has to do
	fast_clock=no has_proc=no lxcfs='' now=0 started=0 last_tick=0 epoch=0 stamps='0 unknown'
	end=$PM_DEADLINE_CS
	read -r pid _ </proc/self/stat && [ "$pid" = $$ ] && has_proc=yes # it may be that of another namespace
	while read -r _ mount _; do
		[ "$mount" = /proc/uptime ] && lxcfs=yes
	done </proc/mounts
	[ -z "$lxcfs" ] && [ -r /proc/uptime ] && fast_clock=yes
	[ "$fast_clock" = yes ] || last_tick=$(date +%s)
	now
	started=$now
	end=$((now + PM_DEADLINE_CS))
	stamps=$(date -u '+%s %Y-%m-%dT%H:%M:%SZ')
	epoch=${stamps%% *}
}

nap() { sleep "$beat"; } # one beat, where there is no event to wait for

#@TAR@

#@CHILDREN@

#@STEPS@

start_member() {
	read -r host </proc/sys/kernel/hostname || host=unknown
	text_member START "schema: postmortem/capture/v1
version: $PM_VERSION
redacted: no
host: $host
incident: $PM_INCIDENT
profile: $PM_PROFILE
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
	case "$states $mode" in *" over-budget "* | *bare) complete=no ;; esac
	# A second look at what could not be killed.
	there=
	for pid in $abandoned; do alive "$pid" && there="$there $pid"; done
	text_member END "complete: $complete
reason: ${stop:-end of the plan}
members: $((members + 1))
seconds: $(((now - started) / 100)).$(((now - started) / 10 % 10))
left_behind:$there
mode: $mode
"
	ended=yes
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
	export PATH LC_ALL TZ PM_CALLER_PATH PM_TZ PM_MAIN PM_PLACES PM_TAIL_BYTES PM_PART_BYTES PM_ADJTIMEX PM_BEAT PM_DEADLINE_CS
	unset LD_PRELOAD LD_LIBRARY_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH BASH_ENV ENV CDPATH
	unset IFS
	umask 077
	[ -n "$POSTMORTEM_DEBUG" ] || exec 2>/dev/null
	cd /
	S='' worker='' guard='' stop='' notes='' states='' tiers='' ended=no mode=whole abandoned='''' dead_mounts='' stuck_paths='' done_paths=''
	log_paths='' log_todo='' log_members='' labels='' given='' follower='' pci_sampled='' smi_sampled='' gpu_is_stuck='' gpu_answered='' other=''
	members=0 sent=0 note_count=0 hangs=0 step=0 wid=0 log_count=0
	two=é
	counts_bytes=no
	[ ${#two} -ne 2 ] || counts_bytes=yes
	trap '' PIPE
	trap 'stop=SIGTERM' TERM
	trap 'stop=SIGINT' INT
	trap 'stop=SIGHUP' HUP
	trap emergency EXIT
	tools=
	command -v tail >/dev/null || bring_tools
	start_clock
	sampled=$started
	start_member
	be_humble
	beat=0.05 short=0.01
	sleep 0.001 2>/dev/null || beat=1 short=1
	PM_BEAT=$beat
	setsid=
	if command -v setsid >/dev/null; then setsid=setsid; elif command -v busybox >/dev/null; then setsid='busybox setsid'; fi
	if make_spool; then
		exec 3<>"$S/events"
		start_guard
		start_follower
		start_worker
		plan
		alive "$guard" || stop='no process could be started'
		[ "$stop" != 'no process could be started' ] || bare
	else
		log spool missing 0 0 "" "/dev/shm" "no place for a spool can be written"
		bare
	fi
	end_member
	# Some clients drop what they have not yet read when the remote command ends: they close our input when they have it.
	[ "$PM_LINGERS" = no ] || while read -r _; do :; done
	clean_up
}

bring_tools() { # an image with nothing but busybox: a folder of links to it
	busybox=$(command -v busybox) || return
	for place in "$POSTMORTEM_SPOOL" /dev/shm /run /tmp; do
		[ -n "$place" ] || continue
		busybox mkdir "$place/postmortem-tools.$$" || continue
		tools=$place/postmortem-tools.$$
		busybox --install -s "$tools"
		[ -h "$tools/tail" ] || for name in $(busybox --list); do busybox ln -s "$busybox" "$tools/$name"; done
		PATH=$PATH:$tools
		return
	done
}

be_humble() { # what nobody else wants; and the OOM killer's first choice
	read -r score <"/proc/$$/oom_score_adj" && [ "$score" -lt 500 ] && echo 500 >"/proc/$$/oom_score_adj"
	ionice -c 3 -p $$
}

emergency() { # the shell ends before its time: it could not fork, or open a file. No child is needed from here on.
	[ "$ended" = no ] || return 0
	trap - EXIT
	stop='no process could be started'
	[ "$members" -gt 0 ] || start_member
	log agent denied 0 0 "" "" "$stop, or no file could be opened"
	bare
	end_member
	clean_up
}

bare() { # no spool, no process: what a variable can hold, of files that always answer
	mode=bare
	case $tiers in */memory*) return ;; esac
	for file in /proc/uptime /proc/meminfo /proc/loadavg /proc/vmstat /proc/pressure/memory /proc/self/cgroup /proc/self/mounts; do
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

#@GUARD@

#@WORKER@

#@PLAN@

main
exit
