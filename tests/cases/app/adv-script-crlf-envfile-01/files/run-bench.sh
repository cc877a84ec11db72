#!/bin/bash
set -u
source /opt/bench/bench.env
echo "bench: host=$BENCH_HOST port=$BENCH_PORT rounds=$ROUNDS"
if [ "$ROUNDS" -gt 100 ]; then echo "bench: long run"; fi
if ! curl -fsS --max-time 3 "http://$BENCH_HOST:$BENCH_PORT/health"; then
  echo "bench: daemon is not healthy, giving up"
  exit 4
fi
