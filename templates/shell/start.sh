#!/bin/sh
# Serves SSH for the keys in SSH_KEYS. Host keys lie beside the work, so that the machine is known again after a
# stop and start with the same volume.
set -eu
keys=/data/.ssh-host-keys
mkdir -p "$keys" /root/.ssh
for kind in ed25519 ecdsa; do
    [ -s "$keys/ssh_host_${kind}_key" ] || ssh-keygen -q -t "$kind" -N '' -f "$keys/ssh_host_${kind}_key"
done
chmod 700 /root/.ssh "$keys"
printf '%s\n' "${SSH_KEYS:-}" >/root/.ssh/authorized_keys
chmod 600 /root/.ssh/authorized_keys
# What the container was given, for those who come by SSH.
env | grep -E '^(HOSTLER|NVIDIA|CUDA|HF)_' >/etc/environment || true
exec /usr/sbin/sshd -D -e -h "$keys/ssh_host_ed25519_key" -h "$keys/ssh_host_ecdsa_key" \
    -o PasswordAuthentication=no -o PermitRootLogin=prohibit-password
