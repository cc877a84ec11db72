#!/usr/bin/env bash
# review app for a merge request
set -euo pipefail

: "${CI_ENVIRONMENT_SLUG:=review-117}"
ns="review"
img="$CI_REGISTRY_IMAGE:$CI_COMMIT_SHORT_SHA"

docker login -u gitlab-ci-token --password-stdin "$CI_REGISTRY" <<< "$CI_JOB_TOKEN"
echo "helm upgrade --install ${CI_ENVIRONMENT_SLUG}"
helm --kube-context "$REVIEW_KUBE_CONTEXT" -n "$ns" upgrade --install "$CI_ENVIRONMENT_SLUG" chart --set image="$img"
