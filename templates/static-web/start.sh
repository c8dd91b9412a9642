#!/bin/sh
set -eu
mkdir -p /data
if [ "${WEB_LISTING:-true}" = true ]; then echo 'autoindex on;'; fi >/run/site.conf
# One page for every path that is no file, as applications in the browser want it.
if [ "${WEB_SINGLE_PAGE:-false}" = true ]; then echo 'location / { try_files $uri $uri/ /index.html; }'; fi >>/run/site.conf
# /dev/stdout is the host's to open, which root of this container is not: the log goes through a pipe of ours.
[ -p /run/access.log ] || mkfifo /run/access.log
cat /run/access.log &
exec nginx
