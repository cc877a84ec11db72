#!/bin/sh
set -eu
: "${DB_HOST:=db}"
: "${DB_PORT:=5432}"
until nc -z "$DB_HOST" "$DB_PORT"; do
  echo "waiting for $DB_HOST:$DB_PORT"
  sleep 1
done
/app/migrate up
exec /app/ledger serve
