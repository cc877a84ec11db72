#!/usr/bin/env bash
set -euo pipefail
region=${1:?region}
here=$(cd "$(dirname "$0")" && pwd)
say() { echo "preview-up: $*"; }
tpl=$(sha1sum "$here/preview.yaml" | cut -c1-6)
say "region $region, template $tpl"
name=preview-${BUILD_NUMBER:-0}
aws --region "$region" cloudformation create-stack \
    --stack-name "$name" --template-body "file://$here/preview.yaml" > /dev/null
say "stack $name CREATE_IN_PROGRESS"
aws --region "$region" cloudformation wait stack-create-complete --stack-name "$name"
say "stack $name CREATE_COMPLETE"
outs=$(aws --region "$region" cloudformation describe-stacks --stack-name "$name" \
    --query 'Stacks[0].Outputs[].[OutputKey,OutputValue]' --output text | tr '\t\n' '= ')
say "outputs: $outs"
pool=$(sed -n 's/.*UserPool=\([^ ]*\).*/\1/p' <<< "$outs")
say "creating demo user ..."
pw="Demo$(LC_ALL=C tr -dc 'A-Za-z0-9' < /dev/urandom | head -c 14)!9"
aws --region "$region" cognito-idp admin-create-user --user-pool-id "$pool" \
    --username demo --temporary-password "$pw" > /dev/null 2>&1 || true
say "ready"
