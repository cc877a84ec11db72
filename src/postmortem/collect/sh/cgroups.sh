# Probes of cgroup v1, v2 and hybrid: our own groups, and every memory group in sight. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

cgroup_lines() { # of /proc/self/cgroup and mountinfo: kind, controller, path in the hierarchy, folder that shows it
	while IFS=: read -r _ controllers path; do
		case $controllers in
		"") hierarchy=cgroup2 && name=v2 ;;
		name=*) continue ;;
		*) hierarchy=cgroup && name=$controllers ;;
		esac
		while read -r _ _ _ root mount rest; do
			case $rest in *" - $hierarchy "*) ;; *) continue ;; esac
			options=${rest##* }
			[ "$name" = v2 ] || case ",$options," in *,"$controllers",*) ;; *) continue ;; esac
			inside=$path
			[ "$root" = / ] || inside=${path#"$root"}
			folder=$mount${inside%/}
			[ -d "$folder" ] || folder=$mount # a namespace may hide the rest of the path
			case $hierarchy in cgroup) kind=v1 ;; *) kind=v2 ;; esac
			echo "$kind $name $path $folder $mount"
			break
		done </proc/self/mountinfo
	done <"/proc/$PM_MAIN/cgroup"
}

cgroup_paths() {
	echo "# version controller path folder mount"
	cgroup_lines | tee "$S/cgroups"
	grep cgroup /proc/self/mountinfo
}

cgroup_self() { # the limits and counters of our own groups, one member a file
	[ -f "$S/cgroups" ] || cgroup_lines >"$S/cgroups"
	while read -r kind name _ folder _ <&6; do
		case $kind$name in
		v2v2) cgroup_files "cgroup/self/v2" "$folder" cgroup.controllers cgroup.events cgroup.stat cgroup.procs memory.max memory.high memory.low memory.min memory.current memory.peak memory.events memory.events.local memory.stat memory.pressure memory.oom.group memory.swap.max memory.swap.current memory.swap.events pids.max pids.current pids.peak pids.events cpu.max cpu.stat cpu.pressure io.stat io.pressure cpuset.cpus.effective cpuset.mems.effective hugetlb.2MB.events ;;
		v1*memory*) cgroup_files "cgroup/self/v1/memory" "$folder" memory.limit_in_bytes memory.max_usage_in_bytes memory.usage_in_bytes memory.failcnt memory.oom_control memory.soft_limit_in_bytes memory.memsw.limit_in_bytes memory.memsw.max_usage_in_bytes memory.memsw.failcnt memory.kmem.limit_in_bytes memory.kmem.failcnt memory.use_hierarchy memory.stat ;;
		v1*pids*) cgroup_files "cgroup/self/v1/pids" "$folder" pids.max pids.current pids.events ;;
		v1*cpuset*) cgroup_files "cgroup/self/v1/cpuset" "$folder" cpuset.effective_cpus cpuset.effective_mems ;;
		v1*cpu*) cgroup_files "cgroup/self/v1/cpu" "$folder" cpu.stat cpu.cfs_quota_us cpu.cfs_period_us cpuacct.usage ;;
		v1*blkio*) cgroup_files "cgroup/self/v1/blkio" "$folder" blkio.throttle.io_service_bytes blkio.throttle.io_serviced ;;
		v1*freezer*) cgroup_files "cgroup/self/v1/freezer" "$folder" freezer.state ;;
		v1*devices*) cgroup_files "cgroup/self/v1/devices" "$folder" devices.list ;;
		esac
	done 6<"$S/cgroups"
}

cgroup_files() { # MEMBER-FOLDER FOLDER FILE...: small and many, so one head(1) reads them all
	into=$1
	folder=$2
	shift 2
	for file in "$@"; do
		shift
		[ ! -f "$folder/$file" ] || set -- "$@" "$folder/$file"
	done
	head -c 16384 "$@" /dev/null >"$S/files" 2>/dev/null
	file='' seen=$NL
	while IFS= read -r line; do
		case $line in
		"==> $folder/"*" <==" | '==> /dev/null <==')
			cgroup_file
			file=${line#"==> "}
			file=${file% <==}
			seen=$seen$file$NL
			text=
			;;
		*) text=$text$line$NL ;;
		esac
	done <"$S/files"
	for file in "$@"; do # what head(1) could not open is not in its output
		case $seen in *"$NL$file$NL"*) ;; *) cgroup_alone ;; esac
	done
}

cgroup_file() { # the one that ended: $text holds it and head(1)'s own line end
	text=${text%"$NL"}
	case $file in '') return ;; esac
	if [ -z "$text" ] || [ ${#text} -ge 16384 ]; then
		cgroup_alone
	else
		printf '%s' "$text" >"$out"
		give whole "$into/${file##*/}" "$file" "" ${#text}
	fi
}

cgroup_alone() { # a file that is empty, long, or says why not
	head -c $((cap + 1)) "$file" >"$out" 2>"$err"
	rc=$?
	settle "$into/${file##*/}" "$file"
}

cgroup_sweep() { # limit, peak and counters of every memory cgroup in sight, with head(1)'s separators
	[ -f "$S/cgroups" ] || cgroup_lines >"$S/cgroups"
	for root in $(while read -r _ name _ _ mount; do
		case $name in v2 | *memory*) echo "$mount" ;; esac
	done <"$S/cgroups"); do
		find "$root" -maxdepth 9 \( -name memory.oom_control -o -name memory.events \) 2>/dev/null | head -n 300
	done | while read -r found; do
		group=${found%/*}
		for file in memory.limit_in_bytes memory.max_usage_in_bytes memory.usage_in_bytes memory.failcnt memory.oom_control memory.max memory.peak memory.current memory.events memory.events.local; do
			[ ! -f "$group/$file" ] || echo "$group/$file"
		done
	done >"$S/groups"
	[ -s "$S/groups" ] || { echo "no memory cgroup is visible" >&2 && return 1; }
	# Paths of cgroups may hold spaces: one a line.
	tr '\n' '\000' <"$S/groups" | xargs -0 head -n 40 /dev/null
}
