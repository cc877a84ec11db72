#!/bin/bash
set -eu
EXTRA=()
if [ -n "${CUDA_ARCH:-}" ]; then
    EXTRA+=(-DARCH="$CUDA_ARCH")
fi
echo "configure: $(bash --version | head -n 1)"
echo "configure: build dir build-release"
mkdir -p build-release
cd build-release
cmake -G Ninja .. "${EXTRA[@]}"
ninja
