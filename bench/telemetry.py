"""The series store beside Prometheus and VictoriaMetrics, fed the same samples in one run.

100,000 series of 5,000 GPUs (bench/telemetry_load.h), a sample each 10 s for an hour. Ours gets a report a host and moment, and answers
when it is durable; peers get remote-write requests of 2,000 series, as collectors send them. Ours runs in the process that makes the
samples, whose making is not counted; there is no HTTP before it, as there is none between an access point and the master.

ingest-cpu:  µs a sample: of ours append, sync, segments; of a peer its process (utime + stime) from the first request to the last
             answer. What peers do later (compaction, merges) is not counted.
disk-bytes:  a sample, index and log included: of ours when all is in segments; of Prometheus a snapshot, which is a block with its
             index, without the log that it also keeps; of VictoriaMetrics after a forced merge.
query-*:     ms, median of five: of ours in the process, of a peer by HTTP with its answer's JSON. Ours as the samples lie when they
             have come, mostly in memory, and -sealed, when all are in segments; beside the same answers of the peer.
"""

import argparse
import pathlib
import subprocess
import sys
import time
import urllib.parse
import urllib.request

from bench import RELEASE, Bench, Place, arguments, free_port, listens, median, until

INTERVAL = 10
QUERIES = {
    "one-gpu-hour": ("query_range", 'avg_over_time(power_mw{gpu="%s"}[1m])', 3600, 60),
    "avg-by-zone": ("query_range", "avg by (zone) (avg_over_time(power_mw[1m]))", 3600, 60),
    "top-10": ("query", "topk(10, avg_over_time(power_mw[5m]))", 0, 0),
}


def folder_bytes(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def load(options, begin, *words):
    ran = subprocess.run([f"{options.build}/bench-telemetry", "--gpus", str(options.gpus), "--steps", str(options.steps), "--seed",
                          str(options.seed), "--begin", str(begin), *map(str, words)], capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stdout + ran.stderr)
    return [line.split() for line in ran.stdout.splitlines()]


def fetch(port, path, method="GET", **values):
    url = f"http://127.0.0.1:{port}{path}"
    if values:
        url += "?" + urllib.parse.urlencode(values)
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=300) as answer:
        return answer.read()


class Peer:
    def __init__(self, name, place, options):
        self.name, self.port, self.folder = name, free_port(), place.folder / name
        if name == "prometheus":
            config = place.file("prometheus.yml", "global: {scrape_interval: 1h}\n")
            words = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}", f"--web.listen-address=127.0.0.1:{self.port}",
                     "--web.enable-remote-write-receiver", "--web.enable-admin-api", "--log.level=error", "--query.max-samples=500000000"]
        else:
            words = ["victoria-metrics", f"-storageDataPath={self.folder}", f"-httpListenAddr=127.0.0.1:{self.port}", "-retentionPeriod=1",
                     "-loggerLevel=ERROR", "-search.maxUniqueTimeseries=1000000"]
        self.process = place.start(words, name)
        until(lambda: listens(self.port), name)

    def feed(self, options, begin):
        before = cpu_seconds(self.process.pid)
        load(options, begin, "send", self.port)
        return cpu_seconds(self.process.pid) - before

    def settle(self):
        """All of it is there to be asked for, and on the disk as it stays."""
        if self.name == "prometheus":
            fetch(self.port, "/api/v1/admin/tsdb/snapshot", method="POST")
            return folder_bytes(self.folder / "snapshots")
        fetch(self.port, "/internal/force_flush")
        fetch(self.port, "/internal/force_merge")
        still, last = 0, -1
        for _ in range(120):
            time.sleep(1)
            now = folder_bytes(self.folder)
            still, last = (still + 1, now) if now == last else (0, now)
            if still >= 5:
                return last
        return last

    def ask(self, query, end, gpu):
        path, text, span, step = QUERIES[query]
        values = {"query": text % gpu if "%s" in text else text}
        values |= {"start": end - span + step, "end": end, "step": step} if path == "query_range" else {"time": end}
        if self.name != "prometheus":
            values["nocache"] = 1
        took = []
        for _ in range(5):
            begun = time.monotonic()
            answer = fetch(self.port, f"/api/v1/{path}", **values)
            took.append(1000 * (time.monotonic() - begun))
            if b'"success"' not in answer or b'"result":[]' in answer:
                sys.exit(f"{self.name} {query}: {answer[:300]}")
        return median(took)


def main():
    options = arguments("CPU and bytes a sample, and queries, beside Prometheus and VictoriaMetrics.", gpus=(5000, "of 20 series each"),
                        steps=(360, "samples of each series, 10 s apart"), seed=(1, "of the load"), peers=("prometheus,victoriametrics", "to run beside us"),
                        build=(str(RELEASE), "folder of the executables"))
    bench = Bench("telemetry")
    few = argparse.Namespace(**{**vars(options), "gpus": min(options.gpus, 500)})
    print("entropy of a difference and of a second difference, and what the store takes, bits a sample (of 500 GPUs at most)")
    for words in load(few, 0, "describe"):
        print("  " + "  ".join([words[1].ljust(28)] + [word.rjust(6) for word in words[2:]]) if words[0] == "column" else "  mean".ljust(46) + words[1].rjust(6))
    begin = (int(time.time()) - options.steps * INTERVAL) // INTERVAL * INTERVAL
    samples = options.gpus * 20 * options.steps
    with Place() as place:
        ours = {}
        queries = {}
        for words in load(options, begin * 1000, "ours", place.folder / "series"):
            if words[0] == "query":
                queries[words[1]] = float(words[2])
            else:
                ours[words[0]] = float(words[1])
        print(f"ours: {samples} samples in {ours['wall']:.1f} s with their making; {ours['append-cpu'] / samples * 1e6:.3f} us a sample until durable, "
              f"{ours['written'] / samples:.2f} bytes a sample written, {ours['head'] / 2**20:.0f} MiB of rows in memory before the last segment")
        cpu, disk = ours["cpu"] / samples * 1e6, ours["bytes"] / samples
        bench.row("ingest-cpu", "us", cpu, gate="<= 0.5", goal="<= 0.1")
        bench.row("disk-bytes", "B", disk, gate="<= 2", goal="<= 1.2")
        for name in options.peers.split(","):
            peer = Peer(name, place, options)
            theirs = peer.feed(options, begin * 1000)
            bench.row("ingest-cpu", "us", cpu, name, theirs / samples * 1e6)
            bench.row("disk-bytes", "B", disk, name, peer.settle() / samples)
            gpu = next(iter(load(options, 0, "gpu")))[0]
            for query in QUERIES:
                theirs = peer.ask(query, begin + options.steps * INTERVAL, gpu)
                for row in (query, f"{query}-sealed"):
                    bench.row(f"query-{row}", "ms", queries[row], name, theirs)
            peer.process.terminate()
            peer.process.wait(60)
    bench.report(options.json)


if __name__ == "__main__":
    main()
