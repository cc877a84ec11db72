#!/bin/sh
# A container's entrypoint that outlives its program: collects when the program dies, also of an OOM kill.
# Needs nothing but sh and the agent, made once with: postmortem agent --deadline 8 >/usr/local/bin/postmortem-agent
# preStop and the like never run after a crash; PID 1 does. The capture is raw: it is for a private volume.
child=
trap '[ -n "$child" ] && kill -TERM "$child"' TERM INT
"$@" &
child=$!
wait "$child"
status=$?
while kill -0 "$child" 2>/dev/null; do # a signal ended the wait, not the program
    wait "$child"
    status=$?
done
if [ "$status" -ne 0 ]; then
    sh "${POSTMORTEM_AGENT:-/usr/local/bin/postmortem-agent}" 2>/dev/null |
        gzip -1 >"${POSTMORTEM_OUT:-/var/tmp}/capture-$status-$$.tar.gz" || true
fi
exit "$status"
