"""What all benchmarks share: rows with their gates, the table, processes that are measured."""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release"


class Bench:
    """Rows of one benchmark. `ratio` above 1 is always better for us."""

    def __init__(self, name):
        self.name = name
        self.rows = []

    def row(self, name, unit, ours, peer=None, theirs=None, ratio=None, gate=None, goal=None):
        row = {"name": name, "unit": unit, "ours": round(ours, 3)}
        if peer:
            row.update(peer=peer, theirs=round(theirs, 3), ratio=round(ratio or theirs / ours, 3))
        measured = row.get("ratio", row["ours"])
        row.update(gate=gate, goal=goal)
        if gate or goal:
            row["met"] = "goal" if goal and holds(measured, goal) else "gate" if gate and holds(measured, gate) else "miss"
        self.rows.append({key: value for key, value in row.items() if value is not None})

    def report(self, path):
        columns = ["name", "unit", "ours", "peer", "theirs", "ratio", "gate", "goal", "met"]
        table = [columns] + [[str(row.get(column, "")) for column in columns] for row in self.rows]
        widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
        for line in table:
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if path:
            pathlib.Path(path).write_text(json.dumps({"bench": self.name, "rows": self.rows}, indent=1) + "\n")


def holds(value, condition):
    """`condition` as ">= 0.9" or "<= 50"."""
    relation, bound = condition.split()
    return value >= float(bound) if relation == ">=" else value <= float(bound)


def arguments(description, **more):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", metavar="FILE", help="write the rows here too")
    for name, (default, text) in more.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default, help=f"{text} ({default})")
    return parser.parse_args()


def quantile(values, q):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(so, what, within=30):
    end = time.monotonic() + within
    while not (found := so()):
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {within} s")
        time.sleep(0.02)
    return found


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def children(pid):
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += children(int(child))
    return found


def cpu_ns(pids):
    """What the threads of these processes have run, to the nanosecond."""
    total = 0
    for pid in pids:
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
            try:
                total += int(task.read_text().split()[0])
            except OSError:
                pass  # A thread that has just ended.
    return total


class Place:
    """A folder and processes that are gone afterwards, whatever happens."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hostler-bench-"))
        self.processes = []
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGINT if getattr(process, "gentle", False) else signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, words, name, cpus=None, gentle=False):
        log = open(self.folder / f"{name}.log", "w")
        pin = (lambda: os.sched_setaffinity(0, cpus)) if cpus else None
        process = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log, preexec_fn=pin)
        process.gentle = gentle
        self.processes.append(process)
        return process

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


def wrk(url, seconds, connections, cpus, host=None):
    """Requests answered, and the latencies' 99th percentile in ms. Anything but 2xx ends the benchmark."""
    words = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "10s"]
    words += ["-H", f"Host: {host}"] if host else []
    ran = subprocess.run(words + [url], capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    if ran.returncode != 0 or "Non-2xx" in ran.stdout or "Socket errors" in ran.stdout:
        sys.exit(f"wrk {url}: {ran.stdout}{ran.stderr}")
    requests = int(re.search(r"(\d+) requests in", ran.stdout)[1])
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", ran.stdout).groups()
    return requests, float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]
