#!/bin/bash
# A script that leaves evidence when it fails: an EXIT trap, in front of the script's own work.
collect_on_failure() {
    status=$?
    trap - EXIT
    if [ "$status" -ne 0 ]; then
        postmortem collect --deadline 10 --script "$0" --incident "exit-$status" \
            -o "${POSTMORTEM_OUT:-/var/tmp}/$(date -u +%Y%m%dT%H%M%SZ)-$$.tar.gz" || true
    fi
    exit "$status"
}
trap collect_on_failure EXIT
trap 'exit 143' TERM   # else a TERM ends bash without its EXIT trap having the right status
trap 'exit 130' INT

# your work stands here; a job in the background is waited for, so that a signal is not held back by it
"$@" &
wait $!
