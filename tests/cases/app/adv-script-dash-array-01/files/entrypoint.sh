#!/bin/sh
# entrypoint: render config, wait for broker, start workers
set -e
: "${QUEUE:=default}"
echo "entrypoint: queue=$QUEUE workers=${WORKERS:-4}"
envsubst < /etc/worker/worker.tmpl > /tmp/worker.toml
echo "entrypoint: config rendered to /tmp/worker.toml"
for try in 1 2 3 4 5; do
  if nc -z broker 5672; then echo "entrypoint: broker reachable (try $try)"; break; fi
  echo "entrypoint: broker not reachable yet (try $try)"
  sleep 1
done
opts=(--queue "$QUEUE" --concurrency "${WORKERS:-4}")
if [[ -n "$EXTRA_OPTS" ]]; then
  opts+=($EXTRA_OPTS)
fi
exec worker "${opts[@]}"
