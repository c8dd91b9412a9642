"""A cluster by Hostler and by kubeadm's own commands, on the same machines.

Real: `hostler up`, an agent on each machine, the shipped driver, kubeadm, containerd, the kubelet. Three machines of namespaces share the CPUs
of this one. Hostler goes first and leaves them clean. By kubeadm: import the images, lay routes, `init`, `join`, wait until the nodes are ready;
drain, `delete node` and `reset` each.

create:   s from the order to a cluster of 1 + 1 whose nodes are ready. The gate is 1.3 x kubeadm's time + 10 s, as for add and delete.
add:      s for a worker more.
delete:   s until the cluster is deleted and its hosts are free. Hostler looks for what is left there and removes it; `kubeadm reset` does not.
left:     what is left on the three machines afterwards: processes, mounts, interfaces, firewall tables, files, images.
get:      ms that `kubectl get pods -A` takes through gateway, access point and agent (median, whole command with its credential plugin),
          less those straight to the API server. Of it, `hostler --version` is what the plugin takes to start.
"""

import json
import pathlib
import subprocess
import sys
import time

from bench import RELEASE, Bench, arguments, median

WITHIN_S = 480


def start_ms(program):
    took = []
    for _ in range(20):
        begun = time.monotonic()
        subprocess.run([str(program), "--version"], stdout=subprocess.DEVNULL, check=True)
        took.append((time.monotonic() - begun) * 1000)
    return median(took)


def main():
    options = arguments(__doc__, calls=(40, "calls of kubectl each way"), build=(str(RELEASE), "folder of the executables"))
    command = [str(pathlib.Path(options.build) / "bench-cluster"), "--calls", str(options.calls)]
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=WITHIN_S)
    except subprocess.TimeoutExpired:
        sys.exit(f"bench-cluster did not end within {WITHIN_S} s")
    if ended.returncode != 0:
        sys.exit(ended.returncode)
    got = json.loads(ended.stdout)
    ours, theirs = got["ours"], got["theirs"]
    bench = Bench("cluster")
    for what in ("create", "add", "delete"):
        took = theirs[f"{what}_s"]
        bench.row(what, "s", ours[f"{what}_s"], gate=f"<= {1.3 * took + 10:.1f}")
        bench.row(f"{what} by kubeadm", "s", took)
    bench.row("left", "things", ours["left"], gate="<= 0")
    bench.row("left by kubeadm", "things", theirs["left"])
    bench.row("get", "ms", ours["get_through_ms"] - ours["get_direct_ms"], gate="<= 20")
    bench.row("get, whole command", "ms", ours["get_through_ms"])
    bench.row("get, straight", "ms", ours["get_direct_ms"])
    bench.row("hostler --version", "ms", start_ms(pathlib.Path(options.build) / "hostler"))
    bench.report(options.json)


if __name__ == "__main__":
    main()
