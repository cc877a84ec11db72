# Requests to the worker, and the steps of the plan that make several: logs, scripts, mounts, the second sample.
# shellcheck disable=SC2153,SC2154,SC2034,SC2059
# (part of agent.sh: its variables are those of the other parts)

limit() { # HUNDREDTHS: sets $until; a probe never takes more than half of what is left
	now
	room=$(((end - now) / 2))
	[ "$1" -lt "$room" ] && room=$1
	until=$((now + room))
}

stream() { # what the worker gave last; done while it works on the next request, for which it has another file
	[ -n "$given" ] || return 0
	member "$given" "$given_size" "$given_file"
	given=
}

ask() { # PROBE WHAT HUNDREDTHS BYTES MEMBER EXPLICIT ARGUMENT: one request, until its end; $paths are what it found
	paths=
	got= # the state of its last member or note
	step=$((step + 1))
	now
	asked=$now
	if [ -n "$stop" ] || [ "$now" -ge "$end" ]; then
		log "$1" over-budget 0 0 "" "$7" "${stop:-the deadline}"
		return 1
	fi
	limit "$3"
	begun=$now
	printf '%s\037%s\037%s\037%s\037%s\n' "$2" "$4" "$5" "$6" "$7" >&4
	stream
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
			stream
			given=$into given_size=$size given_file=$S/out.$wid.$slot
			slot=$((1 - slot))
			echo >&4
			;;
		esac
		now
		got=$state
		log "$1" "$state" $((now - asked)) "$size" "$into" "$source" "$reason"
		answers=$((answers + 1))
		asked=$now
	done
	case $2 in glob | list | full | scripts | mounts | std | deleted) return 0 ;; esac
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
	case $1 in
	host.vmstat) sampled=$begun ;;
	gpu.pci) [ "$got" = whole ] && pci_sampled=$begun ;;
	gpu.nvidia-smi-short) smi_sampled=$begun ;;
	esac
	[ "$1$got" = gpu.nvidia-smi-shortwhole ] && [ -z "$gpu_is_stuck" ] && gpu_answered=yes
	return 0
}

left_out() { # PROBE
	log "$1" refused 0 0 "" "" "left out by the configuration"
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
	case $got in whole | empty) return 0 ;; esac # nothing is left of it
	log_todo="$log_todo$1$NL"
	log_members="$log_members$safe$NL"
}

full_logs() {
	todo=$log_todo
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

running_scripts() { # first of the scripts: what they find says who runs each
	ask scripts.running scripts 100 0 "" no all
	each_path scripts script 200 262144 scripts "$paths"
}

far_mounts() {
	ask disk.mounts-far mounts 50 0 "" no all
	each_path disk.df-mount mount 50 4096 disk/mount "$paths"
}

std_logs() { # files that standard output or error of some process goes to
	ask logs.std std 100 0 "" no all
	[ -n "$paths" ] || return 0
	found=$paths
	while [ -n "$found" ]; do
		path=${found%%"$NL"*}
		found=${found#*"$NL"}
		known "$log_paths" "$path" && continue
		log_count=$((log_count + 1))
		log_paths="$log_paths$path$NL"
		tail_of "$path" '' no
	done
}

ripe() { # NAME FIRST: back 0.3 s or more after the first sample, or as late as was asked for; fails when there is no time
	stream
	wait_cs=30
	[ "$PM_SAMPLE_CS" -le 30 ] || wait_cs=$PM_SAMPLE_CS
	until=$(($2 + wait_cs))
	now
	while [ "$now" -lt "$until" ]; do
		[ "$now" -lt $((end - 50)) ] && [ -z "$stop" ] && alive "$guard" || return 1
		read -r _ <&3
		now
	done
	times="$times$1 $((now - $2))$NL"
}

second_sample() {
	times=
	ripe host "$sampled" && probe sample2.host run 100 131072 sample2/host/counters host_again
	ripe cgroup "$sampled" && probe sample2.cgroup run 100 131072 sample2/cgroup/counters cgroup_again
	probe sample2.blocked run 100 131072 sample2/proc/dstate blocked_again
	[ -n "$pci_sampled" ] && ripe pci "$pci_sampled" && probe sample2.gpu run 100 131072 sample2/gpu/pci gpu_again
	if [ "$gpu_answered" = yes ] && ripe smi "$smi_sampled"; then
		probe gpu.nvidia-smi-again run 400 65536 sample2/gpu/nvidia-smi-short smi_short
		probe gpu.nvidia-smi-q-again run 400 524288 sample2/gpu/nvidia-smi-q smi_q
	fi
	[ -n "$times" ] || return 0
	times="# hundredths of a second between the first sample and the second$NL$times"
	stream
	text_member sample2/times "$times"
	log sample2.times whole 0 ${#times} sample2/times "" ""
	return 0
}

tier() { # NAME of the one that ended
	tiers="$tiers/$1"
	flush_notes
	# What is volatile was taken at full speed; the bulk can wait for everybody else.
	[ "$1" != 'log tails' ] || renice -n 10 -p $$ ${worker:+"$worker"} >/dev/null
}
