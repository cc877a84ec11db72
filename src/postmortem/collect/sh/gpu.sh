# Probes of the GPU: who holds it, on the bus, in the driver's files, through the driver. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

descriptors() { # every open file of every process, once for all who ask; numbers, since names may come from a dead server
	[ -s "$S/fds" ] || ls -ln /proc/[0-9]*/fd >"$S/fds" 2>/dev/null
}

gpu_holders() { # open device files, such as /proc/4127/fd/9 -> /dev/nvidia0
	descriptors
	sed -n -e '/^\/proc\/.*:$/{
s/:$//
h
}' -e '/ -> \/dev\/\(nvidia\|kfd\|dri\/\|infiniband\/\)/{
G
s/^.* \([0-9]* -> .*\)\n\(.*\)$/\2\/\1/p
}' "$S/fds"
	return 0
}

gpu_bus_files() { # FILE...: of each GPU and of the bridge above it, as file:line
	[ -f "$S/gpus" ] || for dir in /sys/bus/pci/devices/*; do
		vendor='' class=''
		read -r vendor <"$dir/vendor" && read -r class <"$dir/class"
		case $vendor$class in 0x10de0x03* | 0x10de0x0680* | 0x10020x03* | 0x10020x12*) echo "$dir" ;; esac
	done >"$S/gpus" 2>/dev/null
	while read -r dir; do
		echo "==> ${dir##*/} <=="
		cd -P "$dir" && grep -s . "$@" /dev/null
		cd -P .. && grep -s . "$@" /dev/null | sed 's/^/bridge /'
	done <"$S/gpus"
}

gpu_pci() { # power state and link first: asking the driver may change them
	gpu_bus_files power/runtime_status power/control current_link_speed current_link_width max_link_speed max_link_width vendor device class enable numa_node aer_dev_correctable aer_dev_nonfatal aer_dev_fatal reset_method
	[ -s "$S/gpus" ] || { echo "no NVIDIA or AMD GPU among /sys/bus/pci/devices: not found" >&2 && return 1; }
	while read -r dir; do
		printf '%s config:' "${dir##*/}"
		od -An -v -tx1 -N64 "$dir/config" | tr -d '\n' # all ff: the device is off the bus
		driver=$(readlink "$dir/driver") && printf ' driver: %s' "${driver##*/}"
		echo
	done <"$S/gpus"
}

gpu_driver_files() {
	[ -d /proc/driver/nvidia ] || { echo "/proc/driver/nvidia: No such file" >&2 && return 1; }
	head -n 200 /proc/driver/nvidia/version /proc/driver/nvidia/params /proc/driver/nvidia/registry /proc/driver/nvidia/warnings/* /sys/module/nvidia*/version /sys/module/nvidia*/refcnt /sys/module/nvidia*/initstate 2>/dev/null
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

smi_apps() { # who owns the memory, as the driver sees it
	tool nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv
	tool nvidia-smi pmon -c 1
}

smi_links() {
	tool nvidia-smi nvlink -s
	tool nvidia-smi nvlink -e
	tool nvidia-smi topo -m
}

gpu_amd() { # counters of sysfs; amd-smi only where there is such a GPU
	found=no
	for dir in /sys/class/drm/card[0-9]/device /sys/class/drm/card[0-9][0-9]/device; do
		[ -f "$dir/gpu_busy_percent" ] || continue
		found=yes
		head -n 60 "$dir"/gpu_busy_percent "$dir"/mem_info_vram_used "$dir"/mem_info_vram_total "$dir"/pp_dpm_sclk "$dir"/pp_dpm_pcie "$dir"/ras/* 2>/dev/null
	done
	[ $found = yes ] || { echo "no AMD GPU in /sys/class/drm: not found" >&2 && return 1; }
	! find_tool amd-smi || tool amd-smi metric --json
}

infiniband() {
	[ -d /sys/class/infiniband ] || { echo "/sys/class/infiniband: not found" >&2 && return 1; }
	head -n 3 /sys/class/infiniband/*/ports/*/state /sys/class/infiniband/*/ports/*/phys_state /sys/class/infiniband/*/ports/*/rate /sys/class/infiniband/*/ports/*/counters/* /sys/class/infiniband/*/ports/*/hw_counters/* 2>/dev/null
}

dcgm() { # never its diag
	tool dcgmi discovery -l && tool dcgmi health -c -g 0
}
