#!/bin/sh
# Of @PACKAGE@ @VERSION@.
set -e
units='@UNITS@'

# Under dpkg --root, in a container without systemd, or while one is built, nothing runs.
systemd_runs() { [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; }

runs() {  # runs UNIT: it is up, or about to be
    case $(systemctl show --property=ActiveState --value "$1") in
        active | activating | reloading) return 0 ;;
        *) return 1 ;;
    esac
}
