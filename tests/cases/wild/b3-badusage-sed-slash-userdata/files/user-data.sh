#!/bin/bash
# first boot: site config from the template
exec > /var/log/user-data.log 2>&1
set -x
. /etc/site.env
sed -e "s/__HOST__/$SITE_HOST/" -e "s/__ROOT__/$SITE_ROOT/" /opt/site/nginx.conf.tmpl > /etc/nginx/nginx.conf
systemctl restart nginx
touch /var/lib/site-ready
