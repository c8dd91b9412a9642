"""An agent that samples eight GPUs each second, beside prometheus-node-exporter that is scraped as often.

rss:         memory that each holds after the run, shared pages of its programs and libraries included.
cpu-percent: of one core, over the run. The GPUs are simulated: what a driver itself costs is not in it.
running-16:  the same of an agent and podman together, with 16 containers that run and no work.
"""

import pathlib
import time
import urllib.request

from bench import RELEASE, Bench, Place, arguments, cpu_ns, free_port, listens, until
from gateway import call, cloud, instance, pids_of, shown

RUNNING = 16


def rss_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"process {pid} has no Rss")


def samples(page):
    """GPUs that the master's page shows."""
    return urllib.request.urlopen(page).read().decode().count("DCGM_FI_DEV_GPU_TEMP{")


def with_containers(bench, options, build):
    """A host with containers on a real engine."""
    with Place() as place:
        told = cloud(place, "--simulate", f"hosts=1,gpus={RUNNING}", build=build)
        call(told["api"], "DELETE", "/stocks", told["token"], {"number": 4, "operationID": "", "specName": "bench"})
        status, answer = call(told["api"], "POST", "/v1/specs", told["token"],
                              {"name": "small", "cpu": "100m", "memory": "64Mi", "gpuType": "H100 SXM5 80GB", "gpuNum": 1})
        if status >= 300:
            raise SystemExit(f"spec: {status} {answer}")
        names = [f"small-{i}" for i in range(RUNNING)]
        for name in names:
            instance(told, name, 8080, spec="small")
        until(lambda: all(shown(told, name)["state"] == "running" for name in names), "16 instances", 180)
        sides = {"agent": pids_of(place, str(build / "hostler-agent")),
                 "podman": pids_of(place, f"unix://{place.folder}/data/engine/podman.sock")}
        time.sleep(options.warm)
        before = {side: cpu_ns(pids) for side, pids in sides.items()}
        begun = time.monotonic()
        time.sleep(options.seconds)
        passed = time.monotonic() - begun
        cpu = {side: (cpu_ns(pids) - before[side]) / passed / 1e7 for side, pids in sides.items()}
        for side, percent in cpu.items():
            bench.row(f"running-16-{side}", "%", percent)
        bench.row("running-16", "%", sum(cpu.values()), gate="<= 1.0", goal="<= 0.3")


def main():
    options = arguments(__doc__, seconds=(60, "so long they are watched"), warm=(20, "so long they run before"),
                        build=(str(RELEASE), "folder of the executables"))
    build = pathlib.Path(options.build).absolute()
    bench = Bench("agent")
    beside_exporter(bench, options, build)
    with_containers(bench, options, build)
    bench.report(options.json)


def beside_exporter(bench, options, build):
    with Place() as place:
        ready = place.folder / "ready.json"
        metrics, exporter_port = free_port(), free_port()
        up = place.start([build / "hostler", "up", "--data", place.folder / "data", "--listen", "127.0.0.1:0", "--engine", "sim",
                          "--simulate", "hosts=1,gpus=8", "--report-interval", "10", "--sample-interval", "1",
                          "--metrics", f"127.0.0.1:{metrics}", "--ready-file", ready], "up", gentle=True)
        until(lambda: ready.exists() or up.poll() is not None, "hostler up", 60)
        page = f"http://127.0.0.1:{metrics}/metrics/gpus"
        until(lambda: samples(page) == 8, "samples of eight GPUs")
        [agent] = [pid for pid in pids_of(place, str(build / "hostler-agent"))]
        exporter = place.start(["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{exporter_port}"], "exporter").pid
        until(lambda: listens(exporter_port), "prometheus-node-exporter")
        scraped = f"http://127.0.0.1:{exporter_port}/metrics"

        def run(seconds):
            end = time.monotonic() + seconds
            count = 0
            while time.monotonic() < end:
                urllib.request.urlopen(scraped).read()
                count += 1
                time.sleep(max(0, 1 - time.monotonic() % 1))
            return count

        run(options.warm)
        before = cpu_ns([agent]), cpu_ns([exporter])
        begun = time.monotonic()
        run(options.seconds)
        passed = time.monotonic() - begun
        ours, theirs = [(cpu_ns([pid]) - was) / passed / 1e7 for pid, was in zip((agent, exporter), before)]
        peer = "node_exporter"
        bench.row("rss", "MiB", rss_mib(agent), peer, rss_mib(exporter))
        bench.row("cpu-percent", "%", ours, peer, theirs)
        # The gates are absolute, whatever the peer does.
        for row, gate, goal in zip(bench.rows, ("<= 30", "<= 0.5"), ("<= 20", "<= 0.2")):
            value = row["ours"]
            row.update(gate=gate, goal=goal)
            row["met"] = "goal" if value <= float(goal[3:]) else "gate" if value <= float(gate[3:]) else "miss"


if __name__ == "__main__":
    main()
