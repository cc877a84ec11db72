# Probes of the kernel log and of what rules it. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

kernel_log() { # /dev/kmsg without waiting for its end, else dmesg, else the journal; why not goes to kernel/reason
	: >"$S/kernel.why"
	if head -c 0 </dev/kmsg 2>"$err"; then
		# "Resource temporarily unavailable" is how a read says that it has seen everything.
		dd if=/dev/kmsg of="$out" bs=8192 iflag=nonblock conv=notrunc 2>"$err"
		[ -s "$out" ] && give_kernel kernel/kmsg /dev/kmsg && return
	fi
	why && echo "/dev/kmsg: $text" >>"$S/kernel.why"
	dmesg >"$out" 2>"$err"
	[ -s "$out" ] && give_kernel kernel/dmesg dmesg && return
	why && echo "dmesg: $text" >>"$S/kernel.why"
	tool journalctl -k -b --no-pager -o short-precise -n 20000 >"$out" 2>"$err"
	[ -s "$out" ] && ! grep -q '^-- No entries' "$out" && give_kernel kernel/journal "journalctl -k" && return
	why && echo "journalctl -k: $text" >>"$S/kernel.why"
	echo "kernel.dmesg_restrict: $(cat /proc/sys/kernel/dmesg_restrict)" >>"$S/kernel.why"
	grep -E '^(CapEff|Seccomp|NoNewPrivs)' /proc/self/status >>"$S/kernel.why"
	text=$(tr '\n' ';' <"$S/kernel.why")
	cat "$S/kernel.why" >"$out"
	give whole kernel/reason "/dev/kmsg" ""
	note denied "kernel log" "$text"
}

give_kernel() { # MEMBER SOURCE
	size=$(($(wc -c <"$out")))
	if [ "$size" -gt "$cap" ]; then
		tail -c "$cap" "$out" >"$out.cap" && cat "$out.cap" >"$out"
		rm -f "$out.cap"
		from_line || :
		give cut "$1" "$2" "the last $cap bytes of $size"
	else
		give whole "$1" "$2" "" "$size"
	fi
}

kernel_flags() { # path:value; read(1) gets only the first digit of such a file
	cd /proc/sys || return
	grep . kernel/tainted kernel/hung_task_timeout_secs kernel/hung_task_panic kernel/dmesg_restrict kernel/panic kernel/panic_on_oops kernel/core_pattern kernel/yama/ptrace_scope kernel/threads-max kernel/pid_max vm/overcommit_memory vm/overcommit_ratio vm/max_map_count vm/panic_on_oom vm/oom_kill_allocating_task /sys/kernel/oops_count /sys/kernel/warn_count 2>/dev/null
	return 0
}
