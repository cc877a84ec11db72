# Moving counters a second time, so that rates exist: machine, groups, buses, the blocked. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

host_again() {
	head -n 300 /proc/uptime /proc/vmstat /proc/meminfo /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io /proc/loadavg /proc/net/dev /proc/net/netstat /proc/net/snmp 2>/dev/null
	return 0
}

cgroup_again() { # our own groups under the names of the first sample, then the kill counters of all that are in sight
	[ ! -f "$S/cgroups" ] || while read -r kind name _ folder _ <&6; do
		set --
		for file in memory.events memory.events.local memory.failcnt memory.oom_control memory.current memory.usage_in_bytes memory.pressure cpu.stat cpu.pressure io.pressure pids.events; do
			[ ! -f "$folder/$file" ] || set -- "$@" "$folder/$file"
		done
		case $name in v2) ;; *memory*) kind=v1/memory ;; *pids*) kind=v1/pids ;; *) kind=v1/cpu ;; esac
		[ $# = 0 ] || head -n 40 "$@" /dev/null | sed -e "/^==> .dev.null/d" -e "s|^==> .*/\\([a-z._]*\\) <==|==> cgroup/self/$kind/\\1 <==|"
	done 6<"$S/cgroups"
	[ ! -s "$S/groups" ] || grep -e '/memory\.events$' -e '/memory\.oom_control$' -e '/memory\.failcnt$' "$S/groups" | tr '\n' '\000' | xargs -0 head -n 40 /dev/null
	return 0
}

gpu_again() { # error counters of the buses; the driver is asked elsewhere
	gpu_bus_files aer_dev_correctable aer_dev_nonfatal aer_dev_fatal current_link_speed current_link_width gpu_busy_percent
	[ ! -d /sys/class/infiniband ] || infiniband
	return 0
}

blocked_again() {
	[ -s "$S/blocked" ] || return 0
	head -n 4 $(pids_in "$S/blocked" | head -n 64 | sed 's|.*|/proc/&/stat /proc/&/wchan|') 2>/dev/null
	return 0
}
