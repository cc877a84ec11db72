# Probes of the process table: who lives, who is dead or blocked. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

sweep() { # FILE: that file of every process, with head(1)'s own separators; one process for all
	head -n 400 /proc/[0-9]*/"$1" /dev/null
	[ $? -lt 126 ] && return 0 # past that: the list of processes was too long for one command line
	printf '%s\n' /proc/[0-9]*/"$1" | xargs -n 4000 head -n 400
}

sweep_stat() {
	sweep stat
	# The zombies and the blocked are wanted by the next probes: remember them.
	grep -h ') [ZX] ' "$out" >"$S/zombies"
	grep -h ') D ' "$out" >"$S/blocked"
	grep -h '^[0-9]* (' "$out" >"$S/stats"
	return 0
}

sweep_status() { sweep status; }

sweep_wchan() { sweep wchan; }

sweep_cgroup() { sweep cgroup; }

sweep_oom_score() { sweep oom_score; }

pids_in() { # FILE of stat lines
	while read -r pid _; do echo "$pid"; done <"$1"
}

zombies() { # each zombie's stat line, and whether its wait status (field 52) may be read
	[ -s "$S/zombies" ] || return 0
	# The right to read field 52 and the right to read this link are the same one; without it the field reads 0.
	# shellcheck disable=SC2046 # pids
	ls -l $(pids_in "$S/zombies" | sed 's|.*|/proc/&/ns/pid|') >"$S/permitted" 2>/dev/null
	while read -r line; do
		pid=${line%% *}
		if grep -q "/proc/$pid/ns/pid -> " "$S/permitted"; then may=yes; else may=no; fi
		rest=${line##*) }
		rest=${rest#* }
		parent=
		read -r parent <"/proc/${rest%% *}/comm" || :
		printf '%s permitted=%s parent=%s\n' "$line" "$may" "$parent"
	done <"$S/zombies"
}

blocked() { # wait channel, kernel stack and system call of tasks in state D
	[ -s "$S/blocked" ] || return 0
	cat "$S/blocked"
	# shellcheck disable=SC2046 # pids
	set -- $(pids_in "$S/blocked" | head -n 64)
	for file in wchan stack syscall; do
		head -n 64 $(for pid in "$@"; do echo "/proc/$pid/$file"; done) /dev/null
	done 2>/dev/null
	head -n 1 $(for pid in "$@"; do ls -d "/proc/$pid/task"/* | head -n 64; done | sed 's|.*|&/stat &/wchan|') /dev/null 2>/dev/null
}

cmdlines() { # of tasks that are neither dead nor blocked: reading it takes the task's memory lock
	cut -d ' ' -f 1 "$S/zombies" "$S/blocked" 2>/dev/null | sort -u >"$S/spared"
	for dir in /proc/[0-9]*; do echo "${dir#/proc/}"; done | sort | comm -23 - "$S/spared" >"$S/alive"
	# shellcheck disable=SC2046 # pids
	head -c 4096 $(sed 's|.*|/proc/&/cmdline|' "$S/alive") /dev/null 2>/dev/null | tr '\000' ' '
}
