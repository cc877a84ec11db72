#!/usr/bin/env bash
#
# nightly.sh: one run of the end-to-end lane. Called by a scheduler; knows
# nothing about which one.
#
#   LANE=full|smoke       default full
#   TARGET=staging|local  default staging
#
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
LANE="${LANE:-full}"
TARGET="${TARGET:-staging}"
LOG_PREFIX="nightly"

say() { printf '%s %s: %s\n' "$(date +%Y-%m-%dT%H:%M:%S%z)" "$LOG_PREFIX" "$*"; }

die() {
  local rc=$?
  say "$*"
  exit "${rc:-1}"
}

cleanup() {
  rm -rf "${TMP_REPORT:-}"
}
trap cleanup EXIT

# uv is in the user's own bin folder, which a non-login shell does not have in
# its PATH
export PATH="$HOME/.local/bin:$PATH"

command -v uv >/dev/null || die "preflight: uv is not in PATH"
say "lane=$LANE target=$TARGET clone=$ROOT"
TMP_REPORT="$(mktemp -d)"
"$ROOT/scripts/preflight.sh"
"$ROOT/scripts/wait-healthy.sh" "http://127.0.0.1:7860/health"
cd "$ROOT"
uv run pytest -n 6 --lane "$LANE" --report "$TMP_REPORT"
say "exit 0"
