#!/bin/bash
set -e
vol=$1; dst=/scratch/pack/$vol.tar
say() { echo "[pack] $(date +%T) $*"; }
tar -cf "$dst" --files-from "lists/$vol.txt" --checkpoint=31 2>&1 | tee -a "logs/$vol.log"
say "pack rc=$?"
say checksum
say "sha256 $(sha256sum "$dst")"
say "upload $vol.tar ($(du -h "$dst" | cut -f1))"
rclone copy "$dst" cold:packs/
say "upload done"
say "SUCCESS $vol"
