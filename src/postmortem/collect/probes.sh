# What the probes of probes.yaml that are more than one file or command do. Runs inside worker.sh's loop.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031
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
}

gpu_holders() { # open device files, such as /proc/4127/fd/9 -> /dev/nvidia0
	ls -l /proc/[0-9]*/fd 2>/dev/null | sed -n -e '/^\/proc\/.*:$/{
s/:$//
h
}' -e '/ -> \/dev\/\(nvidia\|kfd\|dri\/\|infiniband\/\)/{
G
s/^.* \([0-9]* -> .*\)\n\(.*\)$/\2\/\1/p
}'
	return 0
}

cmdlines() { # of tasks that are neither dead nor blocked: reading it takes the task's memory lock
	cut -d ' ' -f 1 "$S/zombies" "$S/blocked" 2>/dev/null | sort -u >"$S/spared"
	for dir in /proc/[0-9]*; do echo "${dir#/proc/}"; done | sort | comm -23 - "$S/spared" >"$S/alive"
	# shellcheck disable=SC2046 # pids
	head -c 4096 $(sed 's|.*|/proc/&/cmdline|' "$S/alive") /dev/null 2>/dev/null | tr '\000' ' '
}

clock() {
	date -u '+utc: %Y-%m-%dT%H:%M:%SZ'
	date '+epoch: %s'
	read -r up _ </proc/uptime && echo "uptime_s: $up"
	grep btime /proc/stat | sed 's/btime /boot_epoch: /'
	echo "tz: ${PM_TZ:-unset}"
	[ -n "$PM_TZ" ] || unset TZ
	TZ=${PM_TZ:-} date '+local: %Y-%m-%dT%H:%M:%S%z %Z'
	link=$(readlink /etc/localtime) && echo "localtime: $link"
	zone=$(cat /etc/timezone 2>/dev/null) && echo "timezone: $zone"
	return 0
}

ALLOWED='^(CUDA_|NCCL_|NVIDIA_|NV_|TORCH_|PYTORCH_|VLLM_|SGLANG_|RAY_|OMP_|MKL_|HF_HOME=|HF_HUB_|TRANSFORMERS_|SLURM_|KUBERNETES_|VAST_|RUNPOD_|CONTAINER_ID=|GPU_COUNT=|DATA_DIRECTORY=|RANK=|WORLD_SIZE=|LOCAL_RANK=|MASTER_ADDR=|MASTER_PORT=|RUST_LOG=|RUST_BACKTRACE=|RUST_MIN_STACK=|CUZK_|FIL_PROOFS_|MALLOC_|GLIBC_TUNABLES=|LD_PRELOAD=|LD_LIBRARY_PATH=|LANG=|LC_|TZ=|PATH=|SHELL=|HOME=|PWD=|USER=|LOGNAME=|HOSTNAME=|TERM=|NO_COLOR=|PYTHON[A-Z]*=|VIRTUAL_ENV=|CONDA_|UCX_|FI_|OMPI_|PMI)'
SECRET='^[^=]*(KEY|TOKEN|SECRET|PASS|CRED|AUTH|COOKIE|PRIVATE|SIGNATURE|API)'

environment() { # of the process that started us, of PID 1 and of what holds the GPU: values by allow-list, else names
	holders=$(gpu_holders | sed 's|/proc/\([0-9]*\)/.*|\1|' | sort -un | head -n 16)
	for pid in $PM_MAIN 1 $holders; do
		echo "==> /proc/$pid/environ <=="
		tr '\n\000' ' \n' <"/proc/$pid/environ" >"$S/environ" || continue
		grep -E "$ALLOWED" "$S/environ" | grep -Eiv "$SECRET"
		echo "names of the others:"
		grep -Ev "$ALLOWED" "$S/environ" | sed 's/=.*//' | sort -u | tr '\n' ' '
		grep -E "$ALLOWED" "$S/environ" | grep -Ei "$SECRET" | sed 's/=.*//' | tr '\n' ' '
		echo
	done
	rm -f "$S/environ"
}

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
		v1*freezer*) cgroup_files "cgroup/self/v1/freezer" "$folder" freezer.state ;;
		v1*devices*) cgroup_files "cgroup/self/v1/devices" "$folder" devices.list ;;
		esac
	done 6<"$S/cgroups"
}

cgroup_files() { # MEMBER-FOLDER FOLDER FILE...
	into=$1
	folder=$2
	shift 2
	for file in "$@"; do
		[ -f "$folder/$file" ] || continue
		head -c 16384 "$folder/$file" >"$out" 2>"$err"
		rc=$?
		settle "$into/$file" "$folder/$file"
	done
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

kernel_log() { # /dev/kmsg without waiting for its end, else dmesg, else the journal; why not goes to kernel/reason
	: >"$S/kernel.why"
	if head -c 0 </dev/kmsg 2>"$err"; then
		# "Resource temporarily unavailable" is how a read says that it has seen everything.
		dd if=/dev/kmsg of="$out" bs=8192 iflag=nonblock conv=notrunc 2>"$err"
		[ -s "$out" ] && give_kernel kernel/kmsg /dev/kmsg && return
	fi
	echo "/dev/kmsg: $(why)" >>"$S/kernel.why"
	dmesg >"$out" 2>"$err"
	[ -s "$out" ] && give_kernel kernel/dmesg dmesg && return
	echo "dmesg: $(why)" >>"$S/kernel.why"
	tool journalctl -k -b --no-pager -o short-precise -n 20000 >"$out" 2>"$err"
	[ -s "$out" ] && ! grep -q '^-- No entries' "$out" && give_kernel kernel/journal "journalctl -k" && return
	echo "journalctl -k: $(why)" >>"$S/kernel.why"
	echo "kernel.dmesg_restrict: $(cat /proc/sys/kernel/dmesg_restrict)" >>"$S/kernel.why"
	grep -E '^(CapEff|Seccomp|NoNewPrivs)' /proc/self/status >>"$S/kernel.why"
	text=$(tr '\n' ';' <"$S/kernel.why")
	cat "$S/kernel.why" >"$out"
	give whole kernel/reason "/dev/kmsg" ""
	note denied "kernel log" "$text"
}

give_kernel() { # MEMBER SOURCE
	size=$(wc -c <"$out")
	if [ $((size)) -gt "$cap" ]; then
		tail -c "$cap" "$out" >"$out.cap" && cat "$out.cap" >"$out"
		rm -f "$out.cap"
		from_line || :
		give cut "$1" "$2" "the last $cap bytes of $((size))"
	else
		give whole "$1" "$2" ""
	fi
}

gpu_pci() { # power state and link first: asking the driver may change them
	found=no
	for dir in /sys/bus/pci/devices/*; do
		vendor=
		read -r vendor <"$dir/vendor" || continue
		read -r class <"$dir/class" || class=
		case $vendor$class in 0x10de0x03* | 0x10de0x0680* | 0x10020x03* | 0x10020x12*) ;; *) continue ;; esac
		found=yes
		echo "==> ${dir##*/} <=="
		for file in power/runtime_status power/control current_link_speed current_link_width max_link_speed max_link_width vendor device class enable numa_node aer_dev_correctable aer_dev_nonfatal aer_dev_fatal reset_method; do
			[ -f "$dir/$file" ] && sed "s|^|$file: |" "$dir/$file"
		done
		printf 'config:'
		od -An -v -tx1 -N64 "$dir/config" | tr -d '\n' # all ff: the device is off the bus
		echo
		driver=$(readlink "$dir/driver") && echo "driver: ${driver##*/}"
	done 2>/dev/null
	[ $found = yes ] || { echo "no NVIDIA or AMD GPU among /sys/bus/pci/devices: not found" >&2 && return 1; }
}

gpu_driver_files() {
	[ -d /proc/driver/nvidia ] || { echo "/proc/driver/nvidia: No such file" >&2 && return 1; }
	head -n 200 /proc/driver/nvidia/version /proc/driver/nvidia/params /proc/driver/nvidia/registry /proc/driver/nvidia/warnings/* /sys/module/nvidia*/version /sys/module/nvidia*/refcnt 2>/dev/null
}

gpu_information() { # apart from the safe ones: these two ask the device
	[ -d /proc/driver/nvidia/gpus ] || { echo "/proc/driver/nvidia/gpus: No such file" >&2 && return 1; }
	head -n 100 /proc/driver/nvidia/gpus/*/information /proc/driver/nvidia/gpus/*/power
}

gpu_devices() {
	ls -l /dev/nvidia* /dev/nvidia-caps/* /dev/kfd /dev/dri/* /dev/infiniband/* 2>/dev/null
	return 0
}

smi_short() {
	tool nvidia-smi --query-gpu=index,uuid,pci.bus_id,name,driver_version,memory.used,memory.total,utilization.gpu,temperature.gpu,power.draw,power.limit,pstate,clocks_throttle_reasons.active,ecc.errors.uncorrected.volatile.total,retired_pages.pending --format=csv
	rc=$?
	grep -qi 'not a valid field' "$out" "$err" || return $rc
	: >"$out" # an old or new driver: ask for what all know
	: >"$err"
	tool nvidia-smi --query-gpu=index,uuid,pci.bus_id,name,driver_version,memory.used,memory.total,temperature.gpu,power.draw --format=csv
}

smi_table() { tool nvidia-smi; }
smi_q() { tool nvidia-smi -q; }
smi_xml() { tool nvidia-smi -q -x; }

identity() {
	for file in /proc/sys/kernel/random/boot_id /proc/sys/kernel/hostname /proc/version /proc/1/comm; do
		line=
		read -r line <"$file" && echo "${file##*/}: $line"
	done
	read -r first </proc/1/sched && echo "pid1_sched: $first"
	for file in /.dockerenv /run/.containerenv /run/secrets/kubernetes.io; do
		if [ -e "$file" ]; then echo "$file: there"; else echo "$file: absent"; fi
	done
	echo "uid: $(id -u)"
	return 0
}

container() {
	for file in /sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name /sys/class/dmi/id/board_vendor /sys/class/dmi/id/bios_vendor /var/lib/cloud/data/instance-id /run/cloud-init/status.json /run/cloud-init/cloud-id /etc/vast_version; do
		[ -f "$file" ] && echo "==> $file <==" && head -c 4096 "$file" && echo
	done 2>/dev/null
	return 0
}

network() { head -n 2000 /proc/net/tcp /proc/net/tcp6 /proc/net/unix /proc/net/dev /proc/net/snmp /proc/net/sockstat /proc/net/route 2>/dev/null; }
pressure() { head -n 4 /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io; }
shared_memory() { ls -la /dev/shm && cat /proc/sysvipc/shm; }
kernel_flags() { # path:value; read(1) gets only the first digit of such a file
	cd /proc/sys || return
	grep . kernel/tainted kernel/hung_task_timeout_secs kernel/hung_task_panic kernel/dmesg_restrict kernel/panic kernel/panic_on_oops kernel/core_pattern kernel/yama/ptrace_scope kernel/threads-max kernel/pid_max vm/overcommit_memory vm/overcommit_ratio vm/max_map_count vm/panic_on_oom vm/oom_kill_allocating_task 2>/dev/null
	return 0
}

# Local kinds only: one df over all mounts stops at the first dead one. The others are asked one by one (do_mount).
LOCAL_TYPES='^(ext[234]|xfs|btrfs|zfs|f2fs|overlay|overlayfs|aufs|tmpfs|ramfs|vfat|exfat|squashfs|erofs|bcachefs)$'

local_mounts() {
	while read -r _ mount type _; do
		printf '%s\n' "$type" | grep -Eq "$LOCAL_TYPES" && printf '%b\n' "$mount"
	done </proc/self/mounts | sort -u | head -n 100
}

df_blocks() { local_mounts | tr '\n' '\000' | xargs -0 df -P -k; }
df_inodes() { local_mounts | tr '\n' '\000' | xargs -0 df -P -i; }

do_mounts() { # one answer for each mount whose server may be dead
	while read -r _ mount type _; do
		case $type in
		nfs* | fuse* | cifs | smb* | ceph | glusterfs | lustre | 9p | virtiofs | gpfs | beegfs | afs) answer p whole 0 "" "$mount" "" ;;
		esac
	done </proc/self/mounts
}

do_mount() { # MOUNT
	(df -P -k "$1" && df -P -i "$1") >"$out" 2>"$err"
	rc=$?
	settle "$member" "$1"
}

do_scripts() { # one answer for each script that a process runs: bash keeps it open as fd 255
	for fd in /proc/[0-9]*/fd/255; do
		path=$(readlink "$fd" 2>/dev/null) || continue
		case $path in
		/dev/* | pipe:* | socket:* | anon_inode:*) ;;
		/*) answer p whole 0 "" "${path% (deleted)}" "" ;;
		esac
	done
	cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\000' '\n' | grep -E '^/.*\.(sh|bash)$' | sort -u | head -n 40 | while read -r path; do
		answer p whole 0 "" "$path" ""
	done
}

do_script() { # PATH: its text, and what is known of it
	plain_file "$1" || return 0
	script=$1
	head -c $((cap + 1)) "$script" >"$out" 2>"$err"
	rc=$?
	size=$(($(wc -c <"$script")))
	first=$(head -c 2 "$script" | tr -d '\000')
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
		case $first in '#!') head -n 1 "$script" | cut -c 1-200 | sed 's/^/shebang: /' ;; esac
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
	for fd in /proc/[0-9]*/fd/255; do
		path=$(readlink "$fd") || continue
		[ "${path% (deleted)}" = "$script" ] || continue
		dir=${fd%/fd/255}
		read -r line <"$dir/stat" || continue
		# shellcheck disable=SC2086 # fields
		set -- ${line##*) }
		open=$(stat -L -c %i "$fd")
		echo "run_by_pid: ${dir#/proc/}"
		echo "run_by_state: $1"
		shift 19
		echo "run_by_start_epoch: $((boot + $1 / 100))"
		echo "run_by_inode: $open"
		[ "$open" = "$inode" ] || other=$fd
	done
}

do_again() { # PREFIX FILES: a second sample of counters
	head -n 300 /proc/vmstat /proc/meminfo /proc/pressure/* /proc/loadavg 2>/dev/null >"$out"
	rc=0
	: >"$err"
	settle "$member" "/proc"
}
