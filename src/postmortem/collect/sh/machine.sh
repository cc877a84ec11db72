# Probes of the machine around: clock, identity, environment, disks, network. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

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

network() { head -n 2000 /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/unix /proc/net/dev /proc/net/netstat /proc/net/snmp /proc/net/sockstat /proc/net/route 2>/dev/null; }

pressure() { head -n 4 /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io; }

shared_memory() { ls -la /dev/shm && cat /proc/sysvipc/shm; }

# Local kinds only: one df over all mounts stops at the first dead one. The others are asked one by one (do_mount).
local_mounts() {
	while read -r _ mount type _; do
		case $type in
		ext[234] | xfs | btrfs | zfs | f2fs | overlay | overlayfs | aufs | tmpfs | ramfs | vfat | exfat | squashfs | erofs | bcachefs) printf '%b\n' "$mount" ;;
		esac
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

again() { # moving counters a second time, in the order of the first: memory, groups, buses, the blocked
	head -n 300 /proc/uptime /proc/vmstat /proc/meminfo /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io /proc/loadavg /proc/net/dev /proc/net/netstat 2>/dev/null
	[ -f "$S/cgroups" ] && while read -r _ _ _ folder _ <&6; do
		for file in memory.events memory.events.local memory.failcnt memory.oom_control memory.current memory.usage_in_bytes cpu.stat pids.events; do
			[ ! -f "$folder/$file" ] || head -n 40 "$folder/$file" /dev/null
		done
	done 6<"$S/cgroups"
	for dir in /sys/class/drm/card*/device; do
		[ -d "$dir" ] && head -n 40 "$dir"/aer_dev_* "$dir"/current_link_* "$dir"/gpu_busy_percent
	done 2>/dev/null
	[ ! -s "$S/blocked" ] || head -n 4 $(pids_in "$S/blocked" | head -n 64 | sed 's|.*|/proc/&/stat /proc/&/wchan|') 2>/dev/null
	return 0
}
