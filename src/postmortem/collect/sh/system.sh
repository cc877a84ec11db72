# Probes of what manages the machine: systemd, Kubernetes, Slurm, the cloud. Runs in worker.sh.
# shellcheck disable=SC2154,SC2129,SC2046,SC2012,SC2031,SC2034
# (out, err, cap, member are the worker's; pids are words; ls is asked for links, not names)

systemd_units() { # only where PID 1 is systemd
	read -r first </proc/1/comm
	[ "$first" = systemd ] || { echo "PID 1 is $first, systemd is not found" >&2 && return 1; }
	tool systemctl list-units --failed --no-legend --plain --no-pager
	for unit in $(tool systemctl list-units --failed --no-legend --plain --no-pager | sed 's/ .*//' | head -n 10); do
		echo "==> $unit <=="
		tool systemctl show -p Result,ExecMainStatus,ExecMainCode,NRestarts,ActiveState,StateChangeTimestamp,MemoryPeak,OOMPolicy "$unit"
	done
	return 0
}

journal() { # what units said last
	read -r first </proc/1/comm
	[ "$first" = systemd ] || { echo "PID 1 is $first, a journal is not found" >&2 && return 1; }
	tool journalctl -b -p notice --no-pager -o short-iso-precise -n 5000
}

journal_boot_before() {
	read -r first </proc/1/comm
	[ "$first" = systemd ] || { echo "PID 1 is $first, a journal is not found" >&2 && return 1; }
	tool journalctl -k -b -1 --no-pager -o short-iso-precise -n 2000
}

pod() { # the downward API's files, and that there is an account; never its token
	for file in /etc/podinfo/* /var/run/secrets/kubernetes.io/serviceaccount/namespace /dev/termination-log; do
		[ -f "$file" ] && head -c 8192 "$file" /dev/null && echo
	done 2>/dev/null
	[ ! -e /var/run/secrets/kubernetes.io/serviceaccount/token ] || echo "service account token: there"
	return 0
}

slurm_job() {
	job=$(tr '\000' '\n' <"/proc/$PM_MAIN/environ" | sed -n 's/^SLURM_JOB_ID=//p')
	[ -n "$job" ] || { echo "SLURM_JOB_ID: not found" >&2 && return 1; }
	tool scontrol show job "$job"
}

ask_cloud() { # PATH HEADER: the address that answers inside a cloud machine only
	if find_tool curl; then
		curl -s -f --noproxy '*' --connect-timeout 0.3 -m 0.6 -H "$2" "http://169.254.169.254/$1"
	elif find_tool wget; then
		wget -q -T 1 -t 1 -O - --header "$2" "http://169.254.169.254/$1"
	else
		return 1
	fi
}

cloud_notice() { # was it preempted?
	token=$(curl -s -f --noproxy '*' --connect-timeout 0.3 -m 0.6 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' http://169.254.169.254/latest/api/token)
	[ -z "$token" ] || for path in spot/instance-action events/recommendations/rebalance instance-type placement/region; do
		echo "==> aws $path <=="
		ask_cloud "latest/meta-data/$path" "X-aws-ec2-metadata-token: $token"
		echo
	done
	[ -n "$token" ] || for path in preempted maintenance-event machine-type zone; do
		answer=$(ask_cloud "computeMetadata/v1/instance/$path" 'Metadata-Flavor: Google') || break
		echo "==> gce $path <==$NL$answer"
	done
	[ -n "$token$answer" ] || ask_cloud 'metadata/scheduledevents?api-version=2020-07-01' 'Metadata: true' || {
		echo "169.254.169.254: no cloud's metadata service was found" >&2
		return 1
	}
}
