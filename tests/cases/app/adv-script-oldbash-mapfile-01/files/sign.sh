#!/bin/bash
set -eu
echo "sign: bash $BASH_VERSION"
mapfile -t apps < <(find build/Release -name '*.app' -maxdepth 1)
echo "sign: ${#apps[@]} bundles"
for a in "${apps[@]}"; do
  codesign --force --options runtime --sign "$IDENTITY" "$a"
done
