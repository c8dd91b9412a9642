#!/bin/sh
set -eu
mkdir -p /data
if [ "${WEB_LISTING:-true}" = true ]; then echo 'autoindex on;'; fi >/run/site.conf
# One page for every path that is no file, as applications in the browser want it.
if [ "${WEB_SINGLE_PAGE:-false}" = true ]; then echo 'location / { try_files $uri $uri/ /index.html; }'; fi >>/run/site.conf
exec nginx
