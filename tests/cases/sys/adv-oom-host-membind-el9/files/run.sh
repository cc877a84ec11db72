#!/bin/bash
set -euo pipefail
numactl --membind=1 --cpunodebind=1 duckdb -c ".read q17.sql" > q17.out
