#!/bin/bash
# node.sh FOLDER NAME ADDRESS GATEWAY PAUSE IMAGES PROGRAMS
# Makes a freshly installed host of the namespaces that it is started in, and stays as their first process. What it
# writes lies in FOLDER; the machine outside keeps its files and its settings.
set -euo pipefail
folder=$1 name=$2 address=$3 gateway=$4 pause=$5 images=$6 programs=$7

# Mounts of other tests, which want to unmount them while this runs.
while read -r _ mount _; do
    case $mount in "${folder%/*}"*) ;; /tmp/hostler-*) umount -l "$mount" ;; esac
done < <(tac /proc/self/mounts)

groups=$(awk '$3 ~ /^cgroup2?$/ { print $2, $3, $4 }' /proc/self/mounts)
mount -t sysfs sysfs /sys
group_of() {  # group_of FOLDER KIND OPTIONS: the own group is the root here.
    local options
    mkdir -p "$1"
    options=$(tr , '\n' <<<"$3" | grep -vxE 'rw|ro|nosuid|nodev|noexec|relatime|seclabel|xattr|release_agent=.*|nsdelegate|memory_recursiveprot|favordynmods' | paste -sd ,) || true
    mount -t "$2" ${options:+-o "$options"} "$2" "$1"
}
case $groups in
    '/sys/fs/cgroup cgroup2 '*) ;;
    *) mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup ;;
esac
while read -r at kind options; do group_of "$at" "$kind" "$options"; done <<<"$groups"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then  # A group with processes of its own has no controlled children.
    mkdir /sys/fs/cgroup/init
    xargs -n 1 </sys/fs/cgroup/cgroup.procs >/sys/fs/cgroup/init/cgroup.procs
    sed 's/ / +/g; s/^/+/' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
fi

# The kubelet sets these for the whole machine: here it writes to files.
for file in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
    [ -e "/proc/sys/$file" ] || continue
    mkdir -p "$folder/sys/${file%/*}"
    cat "/proc/sys/$file" >"$folder/sys/$file"
    mount --bind "$folder/sys/$file" "/proc/sys/$file"
done

for over in /etc /var /opt /root /usr/libexec /usr/local; do
    [ -d "$over" ] || continue
    mkdir -p "$folder/over$over" "$folder/work$over"
    mount -t overlay -o "lowerdir=$over,upperdir=$folder/over$over,workdir=$folder/work$over" overlay $over
done
mkdir -p "$folder/containerd" /var/lib/containerd  # containerd makes overlays in it, which cannot lie on one.
mount --bind "$folder/containerd" /var/lib/containerd
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock
mount --make-rshared /

hostname "$name"
rm -f /etc/resolv.conf /etc/hosts /etc/hostname /etc/machine-id
tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
echo "$name" >/etc/hostname
echo "nameserver $address" >/etc/resolv.conf  # Nothing answers, at once, from pods as well.
printf '127.0.0.1 localhost\n' | cat - "${folder%/*}/hosts" >/etc/hosts
ln -s "$programs"/kube* /usr/local/bin/
for part in kubeadm kubelet kubectl; do [ -x "/usr/local/bin/$part" ]; done

ip link set lo up
for _ in $(seq 300); do ! ip link show eth0 >/dev/null 2>&1 || break; sleep 0.1; done
ip address add "$address/24" dev eth0
ip link set eth0 up
ip route add default via "$gateway"
echo 1 >/proc/sys/net/ipv4/ip_forward

rm -rf /etc/containerd /etc/cni /etc/kubernetes
mkdir -p /etc/containerd
cat >/etc/containerd/config.toml <<TOML
version = 2
oom_score = 0
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
TOML
containerd >"$folder/containerd.log" 2>&1 &
for _ in $(seq 600); do ! ctr version >/dev/null 2>&1 || break; sleep 0.1; done
[ -z "$images" ] || ctr --namespace k8s.io images import "$images" >"$folder/import.log" 2>&1
touch "$folder/ready"
exec tini -- sleep infinity
