#!/bin/sh
# Slurm epilog: after a job that failed; always exits 0, since any other status drains the node; short, and with a limit.
# scontrol is not asked: in an epilog it may wait for the very controller that waits for the epilog.
case ${SLURM_JOB_EXIT_CODE2:-${SLURM_JOB_EXIT_CODE:-0}} in 0 | 0:0) exit 0 ;; esac
timeout -k 1 25 postmortem collect --deadline 20 --profile slurm --incident "job-${SLURM_JOB_ID:-unknown}" \
    -o "${POSTMORTEM_OUT:-/var/tmp}/postmortem-job-${SLURM_JOB_ID:-unknown}.tar.gz" >/dev/null 2>&1
exit 0
