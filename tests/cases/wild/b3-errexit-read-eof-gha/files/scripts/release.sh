#!/usr/bin/env bash
# builds and publishes a release
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
echo "--- reading version"
read -r version < VERSION
echo "version is $version"
echo "--- building"
make -s dist VERSION="$version"
echo "--- publishing"
twine upload --non-interactive "dist/acme_${version}"*
