#!/bin/bash
set -o pipefail
IMAGE=registry.lan/etl/loader:4.2
echo "preflight: looking for $IMAGE"
if ! docker images --format '{{.Repository}}:{{.Tag}}' | grep -q "^$IMAGE$"; then
  rc=("${PIPESTATUS[@]}")
  echo "preflight: ERROR image $IMAGE is not on this node (pipe status ${rc[*]})"
  exit 3
fi
echo "preflight: ok"
