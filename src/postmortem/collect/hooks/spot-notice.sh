#!/bin/sh
# Spot instances: asks the metadata service every 5 s; a notice starts the collection, which has two minutes at most.
# AWS answers 404 until there is a notice, GCE answers FALSE until TRUE.
base=${POSTMORTEM_METADATA:-http://169.254.169.254}
while :; do
    token=$(curl -s -f -m 1 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$base/latest/api/token")
    if curl -s -f -m 1 -H "X-aws-ec2-metadata-token: $token" "$base/latest/meta-data/spot/instance-action" ||
        [ "$(curl -s -f -m 1 -H 'Metadata-Flavor: Google' "$base/computeMetadata/v1/instance/preempted")" = TRUE ]; then
        exec postmortem collect --deadline 20 --profile vm --incident spot-notice \
            -o "${POSTMORTEM_OUT:-/var/tmp}/postmortem-spot-$(date -u +%Y%m%dT%H%M%SZ).tar.gz"
    fi
    sleep "${POSTMORTEM_POLL:-5}"
done
