#!/bin/bash
set -euo pipefail
docker network inspect bench_default >/dev/null 2>&1 || docker network create bench_default
docker run -d --rm --name quoter --network bench_default --memory 6g quoter:5.2
./runner --jobs 35 --target http://quoter:7000
