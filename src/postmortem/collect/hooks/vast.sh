#!/bin/sh
# vast.ai, from the controller: evidence by ssh, the market's own view beside it, then the destroy, whatever happened.
# vastai asks before it destroys; without a terminal that question is a failure and the instance stays and costs: -y.
# Call it before the manager is told that the benchmark is done, since it destroys on that message.
# usage: destroy.sh INSTANCE-ID [USER@]HOST:PORT
id=$1 target=$2
exec postmortem guard --deadline 20 --profile gpu-container --ssh "$target" --incident "vast-$id" \
    --attach "vast-instance=vastai show instance $id --raw" \
    --attach "vast-logs=vastai logs $id" \
    -o "${POSTMORTEM_OUT:-.}/vast-$id.tar.gz" \
    -- vastai destroy instance "$id" -y
