#!/usr/bin/bash
# settings that every container of the pod shares
set -euxo pipefail

export HTTP_PORT="${HTTP_PORT:-6180}"
export DATA_DIR="${DATA_DIR:-/shared}"
export CONF_DIR="${CONF_DIR:-/etc/pxe}"

mkdir -p "$DATA_DIR/html" "$DATA_DIR/log"
chmod 0777 "$DATA_DIR"

PROVISIONING_IP="$(ip -br addr show scope global up dev "$PROVISIONING_INTERFACE" | awk '{print $3}')"
export PROVISIONING_IP
echo "waiting for $PROVISIONING_IP on $PROVISIONING_INTERFACE"

# hosts bring their own CA bundles
update-ca-trust

# choose the disk driver that the ramdisk is to load first
# (no SATA controller: end here, this image has no other driver)
lspci -vvv | grep -qi "sata"
export RAMDISK_FIRST_DRIVER=ahci
