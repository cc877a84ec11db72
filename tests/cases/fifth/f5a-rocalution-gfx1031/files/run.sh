#!/bin/bash
# solver bench
export HIP_VISIBLE_DEVICES=0
export ROCR_VISIBLE_DEVICES=0
for m in mesh_a mesh_b; do
  ./flowsolve --matrix data/$m.csr --backend hip --device 0 || exit $?
done
