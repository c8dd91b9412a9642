#!/bin/sh
# The service of the kubelet, on a node without systemd: starts it when kubeadm has written its settings, and again
# when it ends.
while :; do
    until [ -s /var/lib/kubelet/config.yaml ]; do sleep 0.2; done
    KUBELET_KUBEADM_ARGS=
    # shellcheck disable=SC1091
    [ ! -e /var/lib/kubelet/kubeadm-flags.env ] || . /var/lib/kubelet/kubeadm-flags.env
    # shellcheck disable=SC2086
    kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf \
        --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS
    sleep 1
done
