#!/bin/sh
# The Debian packages that the tests use: other shells, an ssh server, ShellCheck, a browser. Only where apt-get and root are there.
set -eu
missing=
for pair in shellcheck:shellcheck busybox:busybox dash:dash sshd:openssh-server setsid:util-linux chromium:chromium minisign:minisign; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || [ -x "/usr/sbin/${pair%%:*}" ] || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "tests that need$missing will say why they are skipped" >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # a list of words
apt-get install -y -qq --no-install-recommends $missing >/dev/null
