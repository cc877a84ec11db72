# Probes of the machine around: clock, identity, environment, disks, network. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

clock() {
	date -u '+utc: %Y-%m-%dT%H:%M:%SZ
epoch: %s'
	read -r up _ </proc/uptime && echo "uptime_s: $up"
	sed -n 's/^btime /boot_epoch: /p' /proc/stat
	echo "tz: ${PM_TZ:-unset}"
	[ -n "$PM_TZ" ] || unset TZ
	TZ=${PM_TZ:-} date '+local: %Y-%m-%dT%H:%M:%S%z %Z'
	link=$(readlink /etc/localtime) && echo "localtime: $link"
	zone=
	[ -f /etc/timezone ] && read -r zone </etc/timezone && echo "timezone: $zone"
	return 0
}

# Values by this list, unless the name has a word of secrets: those, and all others, by name only.
is_told() { # NAME=VALUE
	case ${1%%=*} in
	*[Kk][Ee][Yy]* | *[Tt][Oo][Kk][Ee][Nn]* | *[Ss][Ee][Cc][Rr][Ee][Tt]* | *[Pp][Aa][Ss][Ss]* | *[Cc][Rr][Ee][Dd]* | *[Aa][Uu][Tt][Hh]* | *[Cc][Oo][Oo][Kk][Ii][Ee]* | *[Pp][Rr][Ii][Vv][Aa][Tt][Ee]* | *[Ss][Ii][Gg][Nn][Aa][Tt][Uu][Rr][Ee]* | *[Aa][Pp][Ii]*) return 1 ;;
	CUDA_* | NCCL_* | NVIDIA_* | NV_* | TORCH_* | PYTORCH_* | VLLM_* | SGLANG_* | RAY_* | OMP_* | MKL_* | HF_HOME | HF_HUB_* | TRANSFORMERS_* | SLURM_* | KUBERNETES_* | VAST_* | RUNPOD_* | CONTAINER_ID | GPU_COUNT | DATA_DIRECTORY | RANK | WORLD_SIZE | LOCAL_RANK | MASTER_ADDR | MASTER_PORT | RUST_LOG | RUST_BACKTRACE | RUST_MIN_STACK | CUZK_* | FIL_PROOFS_* | MALLOC_* | GLIBC_TUNABLES | LD_PRELOAD | LD_LIBRARY_PATH | LANG | LC_* | TZ | PATH | SHELL | HOME | PWD | USER | LOGNAME | HOSTNAME | TERM | NO_COLOR | PYTHON* | VIRTUAL_ENV | CONDA_* | UCX_* | FI_* | OMPI_* | PMI*) return 0 ;;
	esac
	return 1
}

environment() { # of the process that started us, of PID 1 and of what holds the GPU
	holders=$(gpu_holders | sed 's|/proc/\([0-9]*\)/.*|\1|' | sort -un | head -n 16)
	for pid in $PM_MAIN 1 $holders; do
		echo "==> /proc/$pid/environ <=="
		tr '\n\000' ' \n' <"/proc/$pid/environ" >"$S/environ" || continue
		others=
		while IFS= read -r line; do
			if is_told "$line"; then printf '%s\n' "$line"; else others="$others${line%%=*} "; fi
		done <"$S/environ"
		printf 'names of the others:\n%s\n' "$others"
	done
	rm -f "$S/environ"
}

host_stat() { # without the long line of interrupts
	grep -v -e '^intr' -e '^softirq' /proc/stat
}

clock_sync() { # adjtimex(2) by the driver where it runs here, else by whoever can tell; each in its own words
	[ -z "$PM_ADJTIMEX" ] || { printf '%s\n' "$PM_ADJTIMEX" | tr '|' '\n' && return; }
	for command in 'adjtimex --print' adjtimex 'busybox adjtimex' 'timedatectl show' 'chronyc -n tracking' 'ntpq -c rv'; do
		# shellcheck disable=SC2086 # words
		tool $command >"$S/sync" 2>/dev/null && [ -s "$S/sync" ] && echo "source: $command" && cat "$S/sync" && return
	done
	echo "adjtimex, timedatectl, chronyc and ntpq: not found, or none of them answered" >&2
	return 1
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
	[ ! -s /etc/machine-id ] || sha256sum </etc/machine-id | sed 's/^\(.\{16\}\).*/machine_id_sha256: \1/'
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
