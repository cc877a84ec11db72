# Probes of the scripts that ran: text, hash, what bash says of it, which process runs it. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

callers() { # sets $callers: who called the collector, up to PID 1 (which is the container's own and no caller)
	callers=' '
	pid=$PM_MAIN
	while [ "${pid:-0}" -gt 1 ]; do
		callers="$callers$pid "
		line=
		read -r line <"/proc/$pid/stat" || return 0
		line=${line##*) }
		line=${line#* }
		pid=${line%% *}
	done
}

open_scripts() { # pid, descriptor, path: bash keeps its script open as 255, dash and busybox as 10
	descriptors
	sed -n -e '/^\/proc\/.*:$/{
s|^/proc/\([0-9]*\)/fd:$|\1|
h
}' -e '/ \(255\|10\) -> \//{
G
s/^.* \([0-9]*\) -> \(\/.*\)\n\(.*\)$/\3 \1 \2/p
}' "$S/fds" | while read -r pid fd path; do
		path=${path% (deleted)}
		case $path in /dev/*) continue ;; esac
		[ "$fd" = 255 ] || tr '\000' '\n' <"/proc/$pid/cmdline" | grep -qF "${path##*/}" || continue
		echo "$pid $fd $path"
	done >"$S/scripts"
}

do_scripts() { # one answer for each script that a process runs
	open_scripts
	callers
	while read -r pid fd path; do
		case $callers in
		# A hook or an operator's own script is not what failed, and may hold what no rule can know for a secret.
		*" $pid "*) note refused "$path" "it called the collector; ask for it with --script" ;;
		*) answer p whole 0 "" "$path" "" ;;
		esac
	done <"$S/scripts"
}

do_script() { # PATH: its text, and what is known of it
	plain_file "$1" || return 0
	script=$1
	head -c $((cap + 1)) "$script" >"$out" 2>"$err"
	rc=$?
	size=$(($(wc -c <"$script")))
	first=$(head -c 200 "$script" | tr -d '\000')
	first=${first%%"$NL"*}
	settle "$member" "$script"
	{
		echo "path: $script"
		echo "bytes: $size"
		link=$(readlink -f "$script") && [ "$link" != "$script" ] && echo "resolved: $link"
		sum=$(sha256sum <"$script") && echo "sha256: ${sum%% *}"
		stat -L -c 'inode: %i
mtime_epoch: %Y
ctime_epoch: %Z
mode: %a' "$script"
		case $first in '#!'*) echo "shebang: $first" ;; esac
		grep -q "$CR\$" "$script" && echo "crlf: yes"
		bash_n
		runners
	} >"$out" 2>/dev/null
	give whole "$member.meta" "$script" ""
	# The file that the shell reads may be another one than the path now names.
	[ -z "$other" ] || {
		head -c "$cap" "$other" >"$out" 2>"$err"
		rc=$?
		settle "$member.running" "$other"
	}
}

bash_n() { # parses, runs nothing
	case $script in *.py | *.yaml | *.yml | *.toml | *.json | *.conf | *.cfg | *.ini) return ;; esac
	if errors=$(bash --norc -n "$script" 2>&1); then
		echo "bash_n: ok"
	elif [ "$?" -ge 126 ]; then
		echo "bash_n: unknown (no bash)"
	else
		printf '%s\n' "$errors" | head -n 5 | sed 's/^/bash_n: /'
	fi
}

runners() { # processes that run it, with their start (field 22 is in ticks since boot, a hundredth of a second)
	other=
	boot=$(sed -n 's/^btime //p' /proc/stat)
	inode=$(stat -L -c %i "$script")
	[ -f "$S/scripts" ] || open_scripts
	while read -r pid fd path; do
		[ "$path" = "$script" ] || continue
		read -r line <"/proc/$pid/stat" || continue
		# shellcheck disable=SC2086 # fields
		set -- ${line##*) }
		open=$(stat -L -c %i "/proc/$pid/fd/$fd")
		echo "run_by_pid: $pid"
		echo "run_by_state: $1"
		shift 19
		echo "run_by_start_epoch: $((boot + $1 / 100))"
		echo "run_by_inode: $open"
		[ "$open" = "$inode" ] || other=/proc/$pid/fd/$fd
	done <"$S/scripts"
}
