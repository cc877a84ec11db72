# Probes of the job: what it wrote where, its threads and limits, its code, its model, what it left. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

do_std() { # one answer for each regular file that is some process' standard output or error, but not the collector's
	callers
	descriptors
	sed -n -e '/^\/proc\/.*:$/{
s|^/proc/\([0-9]*\)/fd:$|\1|
h
}' -e '/ [12] -> \//{
G
s/^.* [12] -> \(\/.*\)\n\(.*\)$/\2 \1/p
}' "$S/fds" | while read -r pid path; do
		case $path in /dev/* | /proc/* | *" (deleted)" | *.partial | "$S"/*) continue ;; esac
		case $callers in *" $pid "*) ;; *) echo "$path" ;; esac
	done | sort -u | head -n 20 >"$S/std"
	while read -r path; do answer p whole 0 "" "$path" ""; done <"$S/std"
}

deleted_logs() { # regular files that are open and have no name any more: their ends
	descriptors
	sed -n -e '/^\/proc\/.*:$/{
s/:$//
h
}' -e '/ -> \/.* (deleted)$/{
G
s/^.* \([0-9]*\) -> \(\/.*\) (deleted)\n\(.*\)$/\3\/\1 \2/p
}' "$S/fds" | grep -v -e ' /memfd:' -e ' /dev/' -e ' /SYSV' -e "$S" | sort -u -k 2 | head -n 16 >"$S/deleted"
	while read -r fd path; do
		[ -f "$fd" ] || continue
		[ -s "$fd" ] || continue
		tail -c 262144 "$fd" >"$out" 2>"$err" || continue
		size=$(($(wc -c <"$fd")))
		[ "$size" -le 262144 ] || from_line || { note withheld "$path" "the whole tail is one line" && continue; }
		tr -d '\000' <"$out" >"$out.text"
		cmp -s "$out.text" "$out" || { note refused "$path" "deleted, and no text" && continue; }
		give cut "logs/deleted/$(printf '%s' "${path#/}" | tr -c 'A-Za-z0-9._/@%+=:,-' _ | sed 's/\.\.*\./_/g')" "$path" "the end of a deleted file of $size bytes, through $fd"
	done <"$S/deleted"
}

log_inventory() { # what lies in the folders of logs, taken or not
	for dir in /var/log /workspace /root /tmp /app /data /var/crash; do
		[ -d "$dir" ] && echo "==> $dir <==" && ls -lain "$dir"
	done 2>/dev/null
	return 0
}

holders_or_big() { # GPU holders, and those with the most memory (field 24 of stat)
	[ ! -s "$S/big" ] || { cat "$S/big" && return; }
	{
		gpu_holders | sed 's|/proc/\([0-9]*\)/.*|\1|'
		sed -n 's/^\([0-9]*\) (.*) /\1 /p' "$S/stats" 2>/dev/null | sort -k 23 -rn | head -n 12 | cut -d ' ' -f 1
	} | sort -un | head -n 24 >"$S/big"
	cat "$S/big"
}

job_processes() { # limits, I/O, descriptors and GPU libraries of the holders and the biggest
	pids=$(holders_or_big)
	blocked=" $(pids_in "$S/blocked" | tr '\n' ' ')"
	set --
	for pid in $pids; do
		set -- "$@" "/proc/$pid/limits" "/proc/$pid/io" "/proc/$pid/statm" "/proc/$pid/sched" "/proc/$pid/oom_score_adj"
	done
	head -n 40 "$@" /dev/null 2>/dev/null
	for pid in $pids; do
		set -- "/proc/$pid/fd"/*
		[ -h "$1" ] && printf '==> /proc/%s/fd count <==\n%s\n' "$pid" $#
	done
	set --
	for pid in $pids; do
		case $blocked in *" $pid "*) ;; *) set -- "$@" "/proc/$pid/maps" ;; esac # of the blocked they would have to be waited for
	done
	echo "==> libraries of /proc/PID/maps <=="
	grep -o '/[^ ]*lib\(cuda\|cudart\|nccl\|torch\|cudnn\|cublas\|nvidia-ml\)[^ /]*' /dev/null "$@" 2>/dev/null | sort -u | head -n 300
	return 0
}

job_threads() { # no debugger: names, states and wait channels only
	set --
	for pid in $(holders_or_big | head -n 8); do
		most=$(($# + 384))
		for dir in "/proc/$pid/task"/*; do
			[ $# -ge $most ] || set -- "$@" "$dir/comm" "$dir/stat" "$dir/wchan"
		done
	done
	head -n 1 "$@" /dev/null 2>/dev/null
	return 0
}

nccl_files() { # flight records and debug logs that NCCL left; its pipes are never opened
	set -- /tmp/nccl_trace_rank_*
	for pid in $(gpu_holders | sed 's|/proc/\([0-9]*\)/.*|\1|' | sort -un | head -n 16); do
		for path in $(tr '\000' '\n' <"/proc/$pid/environ" | sed -n -e 's/^NCCL_DEBUG_FILE=//p' -e 's/^TORCH_NCCL_DEBUG_INFO_TEMP_FILE=\(.*\)/\1*/p' | sed 's/%[hp]/*/g'); do
			# shellcheck disable=SC2086 # the pattern is to be expanded
			set -- "$@" $path
		done
	done
	seen=$NL
	for path in "$@"; do
		case $seen in *"$NL$path$NL"*) continue ;; esac
		seen=$seen$path$NL
		[ -f "$path" ] || continue
		head -c $((cap + 1)) "$path" >"$out" 2>"$err"
		rc=$?
		settle "job/nccl/${path##*/}" "$path"
	done
}

core_files() { # names and sizes only: a core is memory, and that holds secrets
	head -n 1 /proc/sys/kernel/core_pattern
	ls -la /var/lib/systemd/coredump /var/crash /cores 2>/dev/null
	ls -la /core /core.* /tmp/core* /root/core* /workspace/core* /tmp/nccl_trace_rank_* /tmp/*.nvcudmp /workspace/*.nvcudmp "$PWD"/core* 2>/dev/null
	return 0
}

pstore() { # the last panic; read, never removed
	for file in /sys/fs/pstore/* /var/lib/systemd/pstore/* /var/lib/systemd/pstore/*/*; do
		[ -f "$file" ] || continue
		head -c "$cap" "$file" >"$out" 2>"$err"
		rc=$?
		settle "kernel/pstore/${file##*/}" "$file"
	done
}

python_packages() { # names and versions from the folders' names
	for dir in /usr/lib/python3*/dist-packages /usr/local/lib/python3*/dist-packages /usr/local/lib/python3*/site-packages /opt/*/lib/python3*/site-packages /opt/*/envs/*/lib/python3*/site-packages /venv/*/lib/python3*/site-packages /workspace/*/.venv/lib/python3*/site-packages /root/.pyenv/versions/*/lib/python3*/site-packages; do
		[ -d "$dir" ] || continue
		echo "==> $dir <=="
		for name in "$dir"/*.dist-info "$dir"/*.egg-info; do
			case $name in *'*'*) continue ;; esac # nothing matched
			name=${name##*/}
			echo "${name%.*-info}"
		done
		for name in "$dir"/*.dist-info/direct_url.json; do [ -f "$name" ] && head -c 2000 "$name" /dev/null && echo; done
	done
	return 0
}

system_packages() {
	[ -f /var/lib/dpkg/status ] && sed -n -e 's/^Package: //;t keep' -e '/^Version: /{s/^Version: //;H;x;s/\n/ /;p;}' -e d -e ':keep' -e h /var/lib/dpkg/status | grep -E '^(nvidia|cuda|libnvidia|libcuda|libnccl|libcudnn|linux-image|libc6|docker|containerd|datacenter-gpu|rdma|mlnx|slurm|libfabric|python3)' && return 0
	[ -f /lib/apk/db/installed ] && sed -n -e 's/^P://p' -e 's/^V:/  /p' /lib/apk/db/installed | head -n 400 && return 0
	! find_tool rpm || tool rpm -qa | grep -E 'nvidia|cuda|nccl|cudnn|^kernel|^glibc|docker|containerd|slurm'
	return 0
}

code_versions() { # heads of checkouts; git(1) is not asked, it may run hooks
	for git in "$PWD"/.git /app/.git /workspace/.git /workspace/*/.git /opt/*/.git /root/*/.git; do
		[ -f "$git/HEAD" ] || continue
		echo "==> $git <=="
		read -r head <"$git/HEAD" || continue
		echo "HEAD: $head"
		case $head in "ref: "*) if [ -f "$git/${head#ref: }" ]; then sed 's/^/commit: /' "$git/${head#ref: }"; else grep "${head#ref: }" "$git/packed-refs"; fi ;; esac
	done 2>/dev/null
	return 0
}

model_files() { # names, sizes, times: a short or missing weight file
	for dir in /models /workspace/models /root/.cache/huggingface/hub/*/snapshots/* /var/tmp/filecoin-proof-parameters /data/models; do
		[ -d "$dir" ] && echo "==> $dir <==" && ls -lL "$dir" | head -n 200
		for file in config.json generation_config.json tokenizer_config.json; do
			[ -f "$dir/$file" ] && head -c 16384 "$dir/$file" /dev/null && echo
		done
	done 2>/dev/null
	return 0
}

big_files() { # what filled the disk: one file system, few levels, until the limit of time
	for dir in /tmp /var/log /workspace /data /dev/shm /var/tmp; do
		[ -d "$dir" ] && find "$dir" -xdev -maxdepth 3 -type f -size +65536 2>/dev/null
	done | head -n 2000 | tr '\n' '\000' | xargs -0 ls -lsd 2>/dev/null | sort -rn | head -n 50
	return 0
}
