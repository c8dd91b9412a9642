"""10,000 agents through one access point into one master, as shipped: CPU, memory, and how old an answer is.

Each agent is a connection of its own over mutual TLS 1.3, with TLS to the master inside, from an address of its own. It says what the
shipped agent says: facts of eight GPUs, then a report each 10 s with twenty gauges of each GPU and fourteen of the host, spread evenly;
it pings and measures its way as agents do. They are one process apart (bench-agents), whose CPU is not counted.

cores:   CPU time of access point and master, all threads, over the window.
rss:     memory that both hold at its end, shared pages of the program and its libraries counted twice.
delay-*: s from the moment of a sample until GET /v1/series of that host answers with it; asked again each 10 ms. After the window, under
         the same load.
lost:    reports without a durable answer, 30 s after no more were made.
"""

import http.client
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
import urllib.parse

from agent import rss_mib
from bench import RELEASE, Bench, Place, arguments, cpu_ns, free_port, quantile, until

KEY = "hk_bench-of-a-cloud-that-is-measured"
STATS_S = 12  # So old the master's figures of its series are at most.
SPARE_FILES = 512  # Of a process, beside its connections.


class Fleet:
    """bench-agents, which is told what to do a line at a time."""

    def __init__(self, place, options, data):
        words = [pathlib.Path(options.build) / "bench-agents", "--data", data, "--agents", options.agents, "--gpus", options.gpus,
                 "--ramp", options.ramp]
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=open(place.folder / "agents.log", "w"))
        place.processes.append(self.process)
        self.answer("joined")

    def answer(self, begins=""):
        line = self.process.stdout.readline().strip()
        if not line or not line.startswith(begins):
            sys.exit(f"bench-agents: '{line}'\n" + (pathlib.Path(self.process.args[2]).parent / "agents.log").read_text()[-2000:])
        return line

    def ask(self, line, begins=""):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer(begins)

    def count(self):
        return json.loads(self.ask("count"))


class Api:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def get(self, path, **query):
        try:
            answer, body = self.ask(path, query)
        except (http.client.RemoteDisconnected, ConnectionError):  # It was idle for too long.
            self.connection.close()
            answer, body = self.ask(path, query)
        if answer.status != 200:
            sys.exit(f"GET {path}: {answer.status} {body[:500]}")
        return json.loads(body)

    def ask(self, path, query):
        self.connection.request("GET", f"{path}?{urllib.parse.urlencode(query)}", headers={"Authorization": "Bearer " + KEY})
        answer = self.connection.getresponse()
        return answer, answer.read()

    def hosts(self, **query):
        """How many there are."""
        page = self.get("/v1/hosts", limit=1000, **query)
        found = len(page["items"])
        while page.get("nextCursor"):
            page = self.get("/v1/hosts", limit=1000, cursor=page["nextCursor"], **query)
            found += len(page["items"])
        return found


def raise_file_limit(wanted):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= wanted:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))
    except (ValueError, OSError):
        sys.exit(f"a process may open {hard} files, and {wanted} are needed: raise the limit (ulimit -n), or ask for fewer --agents")


def start_cloud(place, options):
    """The processes: agents (not connected yet), master, access point; and the ports of the API and the uplink."""
    data, edge, build = place.folder / "master", place.folder / "access", pathlib.Path(options.build)
    api, wire, uplink, metrics = free_port(), free_port(), free_port(), free_port()
    fleet = Fleet(place, options, data)
    place.file("master/operator.key", KEY)
    master = place.start([build / "hostler", "master", "--data", data, "--api", f"127.0.0.1:{api}", "--wire", f"127.0.0.1:{wire}", "--zone",
                          "bench:Here", "--report-interval", options.interval, "--templates", "", "--metrics", f"127.0.0.1:{metrics}",
                          "--ready-file", place.folder / "master.json"], "master.out", gentle=True)
    until(lambda: (place.folder / "master.json").exists() or master.poll() is not None, "hostler master", 60)
    subprocess.run([str(build / "hostler"), "ca", "issue", "access/bench", "--master-data", str(data), "--out", str(edge)], check=True)
    access = place.start([build / "hostler", "access", "--data", edge, "--zone", "bench", "--master", f"127.0.0.1:{wire}", "--uplink",
                          f"127.0.0.1:{uplink}", "--tunnel", "127.0.0.1:0", "--control", "127.0.0.1:0", "--ready-file",
                          place.folder / "access.json"], "access.out", gentle=True)
    until(lambda: (place.folder / "access.json").exists() or access.poll() is not None, "hostler access", 60)
    return fleet, {"access": access.pid, "master": master.pid, "agents": fleet.process.pid}, Api(api), uplink, metrics


def rows_stored(metrics):
    connection = http.client.HTTPConnection("127.0.0.1", metrics, timeout=30)
    connection.request("GET", "/metrics")
    for line in connection.getresponse().read().decode().splitlines():
        if line.startswith("hostler_series_rows_total"):
            return int(float(line.split()[-1]))
    raise SystemExit("the master's metrics lack hostler_series_rows_total")


def threads(pid):
    """CPU time in ns of each thread, by name; of one name summed."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        found[name] = found.get(name, 0) + int((task / "schedstat").read_text().split()[0])
    return found


def idle_seconds():
    return int(open("/proc/stat").readline().split()[4]) / os.sysconf("SC_CLK_TCK")


class Watch:
    """CPU and time since it was made."""

    def __init__(self, pids):
        self.pids, self.begun, self.idle = pids, time.monotonic(), idle_seconds()
        self.before = {role: cpu_ns([pid]) for role, pid in pids.items()}
        self.threads = {role: threads(pid) for role, pid in pids.items()}

    def seconds(self):
        return time.monotonic() - self.begun

    def cpu(self, role):
        return (cpu_ns([self.pids[role]]) - self.before[role]) / 1e9

    def idle_share(self):
        return (idle_seconds() - self.idle) / self.seconds() / os.cpu_count()

    def by_thread(self, role):
        return {name: (now - self.threads[role].get(name, 0)) / 1e9 / self.seconds() for name, now in threads(self.pids[role]).items()}


def connect(fleet, api, pids, uplink, options):
    """Returns once all are ready; answers what that cost."""
    watch = Watch(pids)
    fleet.ask(f"connect 127.0.0.1:{uplink}", "connecting")
    patience = 60 + 3 * options.agents / options.ramp
    while (now := fleet.count())["welcomed"] < options.agents:
        if watch.seconds() > patience:
            sys.exit(f"only {now['welcomed']} of {options.agents} agents were welcomed within {patience:.0f} s")
        time.sleep(0.5)
    until(lambda: api.hosts(state="ready") == options.agents, "ready hosts", 60)
    return {role: watch.cpu(role) for role in pids}, watch.seconds()


def delays(fleet, api, count):
    found = []
    for _ in range(count):
        host, marker, sampled = fleet.ask("mark").split()
        while True:
            answer = api.get("/v1/series", metric="host_disk_busy_ms", over="max", since=60, step=60, where=f"host={host}")
            if any((value or 0) >= int(marker) for line in answer["lines"] for value in line["values"]):
                break
            if time.time() - float(sampled) > 60:
                sys.exit(f"a sample of host {host} was not found within 60 s")
            time.sleep(0.01)
        found.append(time.time() - float(sampled))
    return found


def settle(fleet, within=30):
    """No more is reported; answers the count once all is acknowledged, or its time is over."""
    fleet.ask("rest", "resting")
    end = time.monotonic() + within
    while (now := fleet.count())["acknowledged"] < now["made"] and time.monotonic() < end:
        time.sleep(0.2)
    return now


def show(title, lines):
    print(title)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  " + "  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(line, widths))))


def main():
    options = arguments(__doc__, agents=(10_000, "agents"), gpus=(8, "GPUs of each"), interval=(10.0, "s between two reports of an agent"),
                        ramp=(200.0, "agents that connect in a second"), minutes=(3.0, "the window"), probes=(300, "samples that are looked for"),
                        build=(str(RELEASE), "folder of the executables"))
    bench = Bench("agents")
    raise_file_limit(options.agents + SPARE_FILES)
    with Place() as place:
        fleet, pids, api, uplink, metrics = start_cloud(place, options)
        empty = {role: rss_mib(pid) for role, pid in pids.items()}
        connecting, took = connect(fleet, api, pids, uplink, options)
        time.sleep(2 * options.interval)  # Everybody has reported at its pace.
        before = fleet.count()
        watch = Watch(pids)
        time.sleep(60 * options.minutes)
        after, seconds = fleet.count(), watch.seconds()
        cores = {role: watch.cpu(role) / seconds for role in pids}
        held = {role: rss_mib(pid) for role, pid in pids.items()}
        idle, by_thread = watch.idle_share(), {role: watch.by_thread(role) for role in ("access", "master")}
        waited = sorted(delays(fleet, api, options.probes))
        last = settle(fleet)
        time.sleep(STATS_S)
        stored = rows_stored(metrics)

    show(f"{options.agents} agents, {took:.0f} s until all were ready", [
        ["", "before MiB", "connecting CPU s", "ms an agent", "then MiB", "KiB an agent", "cores"],
        *[[role, f"{empty[role]:.0f}", f"{connecting[role]:.1f}", f"{1000 * connecting[role] / options.agents:.2f}", f"{held[role]:.0f}",
           f"{1024 * (held[role] - empty[role]) / options.agents:.1f}", f"{cores[role]:.3f}"] for role in pids]])
    for role, found in by_thread.items():
        print(f"  {role}: " + ", ".join(f"{name} {share:.3f}" for name, share in sorted(found.items(), key=lambda one: -one[1])))
    reports = after["made"] - before["made"]
    print(f"{reports} reports in {seconds:.0f} s ({reports / seconds:.0f}/s); {last['made']} in all, {last['acknowledged']} acknowledged, "
          f"{last['sentAgain']} sent again; {last['lost']} of {last['connections']} connections ended; {stored} rows stored, "
          f"{last['made'] * (options.gpus + 1)} expected; {100 * idle:.0f} % of the machine was idle")
    if after["lateMs"] > 1000 or reports < 0.99 * options.agents * seconds / options.interval:
        print(f"THE LOAD WAS THE LIMIT: 1 of 100 reports was made more than {last['lateMs']} ms late; figures of this run are too good")
    bench.row("cores", "", cores["access"] + cores["master"], gate="<= 1", goal="<= 0.5")
    bench.row("rss", "MiB", held["access"] + held["master"], gate="<= 3072", goal="<= 1536")
    bench.row("delay-p50", "s", quantile(waited, 0.5))
    bench.row("delay-p99", "s", quantile(waited, 0.99))
    bench.row("lost", "", last["made"] - last["acknowledged"], gate="<= 0")
    bench.report(options.json)


if __name__ == "__main__":
    main()
