#!/usr/bin/env bash
set -euo pipefail
echo "starting gateway"
exec gateway --config /etc/gateway.yaml
