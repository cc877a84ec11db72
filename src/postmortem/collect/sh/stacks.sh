# Probes that do more than read, taken only when they are allowed by name (--allow): stacks, by signals to the job's own
# programs, and the vendor's report. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

stacks() { # of Python and Java programs that hold the GPU or the most memory; never of the collector's own callers
	callers
	blocked=" $(pids_in "$S/blocked" | tr '\n' ' ')"
	for pid in $(holders_or_big); do
		case "$callers$blocked" in *" $pid "*) continue ;; esac
		program=$(readlink "/proc/$pid/exe")
		case ${program##*/} in
		python*) if find_tool py-spy; then stack_by_tool "$pid"; else stack_by_signal "$pid" USR1 512 2; fi ;;
		java) stack_by_signal "$pid" QUIT 4 1 ;;
		esac
	done
	return 0
}

stack_by_tool() { # PID: it reads the program's memory and does not stop it
	echo "==> $1 py-spy dump --nonblocking <=="
	"$found" dump --nonblocking --pid "$1"
}

stack_by_signal() { # PID SIGNAL ITS-BIT DESCRIPTOR: only to a program that catches it, since the others would die of it
	echo "==> $1 SIG$2 <=="
	mask=$(sed -n 's/^SigCgt:.*\(....\)$/\1/p' "/proc/$1/status")
	[ $((0x${mask:-0} & $3)) -ne 0 ] || { echo "not sent: it has no handler" && return; }
	target=/proc/$1/fd/$4
	[ -f "$target" ] || {
		echo "not sent: its answer would go to $(readlink "$target"), which cannot be read here"
		return
	}
	before=$(($(wc -c <"$target")))
	kill -"$2" "$1" || return
	after=$before
	for _ in 1 2 3 4 5 6 7 8 9 10; do # until it has grown and grows no more
		sleep "$PM_BEAT"
		grown=$(($(wc -c <"$target")))
		[ "$grown" -gt "$before" ] && [ "$grown" -eq "$after" ] && break
		after=$grown
	done
	tail -c +$((before + 1)) "$target" | head -c 65536
}

vendor_report() { # of the GPU driver's own script, in the mode that asks the driver for nothing that may hang
	[ "$PM_DEADLINE_CS" -ge 9000 ] || { echo "not found in time: it needs a deadline of 90 s or more" >&2 && return 1; }
	tool nvidia-bug-report.sh --safe-mode --output-file "$S/report.log" >"$S/report.said" || {
		cat "$S/report.said" >&2
		return 1
	}
	for file in "$S/report.log.gz" "$S/report.log"; do
		[ -f "$file" ] || continue
		case $file in *.gz) gzip -dc "$file" ;; *) cat "$file" ;; esac
		break
	done
	rm -f "$S/report.log"* "$S/report.said"
}
