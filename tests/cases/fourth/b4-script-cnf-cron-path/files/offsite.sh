#!/bin/bash
# copies the repositories to the second site
REPOS="mail git wiki"
SECOND=${SECOND:-sftp:backup@site-b.test:/vault}
echo "offsite $(date +%F): $(set -- $REPOS; echo $#) repositories"
n=0
for r in $REPOS; do
    # restic copy keeps the snapshots of the target
    restic -r "$SECOND/$r" copy --from-repo "/srv/restic/$r" --quiet
    n=$((n+1))
done
echo "finished, $n repositories saved"
