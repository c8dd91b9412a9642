"""Jobs: how many a second from their submission to their end, beside Slurm; and what very many waiting ones cost.

Slurm is Debian's, with real daemons: slurmctld, and one slurmd for each host. Its jobs are one array, submitted by one sbatch; ours are
submitted each by a request, and each step is durable before it is answered. A job of either side takes one GPU and does nothing, and as many
run at once as there are GPUs. Time begins with the first submission and ends when the last job has succeeded. The sides take turns.

master:   the master beside as many slurmds, which run `exit 0`. Real: API, rules, SQLite with its syncs. Simulated, in the same process: hosts,
          which say what agents say and obey at once; HTTP and TLS are not on the way.
agents:   `hostler up --engine sim`: HTTP, TLS, access points and real agents of fewer hosts, whose engine runs nothing. No gate.
programs: `hostler up --programs` with one host beside one slurmd: both run /bin/true, ours with mounts, limits and a user for each.
memory, round: 100,000 jobs wait in 1,000 queues for 1,000 GPUs, in the process of `master`. Memory of each; CPU time of a round of the
          scheduler while nothing happens, while jobs change and end one by one, and when all that ran end at once.
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

from bench import RELEASE, Bench, Place, arguments, free_port, median, until

GPUS = 8  # Of a host.
LANES = 8  # Clients at once, each with a key, as a key has a rate.
WITHIN_S = 120


class Slurm:
    """A controller and its hosts on this machine, without containment of jobs, which costs the least."""

    def __init__(self, place, hosts):
        self.place, self.folder = place, place.folder / f"slurm-{time.monotonic_ns()}"
        for name in ("state", "spool", "dev"):
            (self.folder / name).mkdir(parents=True)
        for gpu in range(GPUS):
            os.mknod(self.folder / "dev" / f"nvidia{gpu}", 0o20666, os.makedev(1, 3))
        ports, machine, nodes = [free_port() for _ in range(hosts + 1)], socket.gethostname().split(".")[0], f"n[0-{hosts - 1}]"
        lines = [f"NodeName=n{i} NodeHostname={machine} NodeAddr=127.0.0.1 Port={ports[i + 1]} CPUs={GPUS * 4} RealMemory={GPUS * 1000} "
                 f"Gres=gpu:{GPUS}" for i in range(hosts)]
        self.done = self.folder / "done"
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text("\n".join([
            "ClusterName=bench", f"SlurmctldHost={machine}(127.0.0.1)", f"SlurmctldPort={ports[0]}", "SlurmUser=root", "SlurmdUser=root",
            "AuthType=auth/none", "CredType=cred/none", f"StateSaveLocation={self.folder}/state", f"SlurmdSpoolDir={self.folder}/spool/%n",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid", f"SlurmdPidFile={self.folder}/%n.pid",
            f"SlurmctldLogFile={self.folder}/slurmctld.log", f"SlurmdLogFile={self.folder}/%n.log",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SwitchType=switch/none", "MpiDefault=none",
            "JobCompType=jobcomp/filetxt", f"JobCompLoc={self.done}", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core",
            "SchedulerType=sched/backfill", "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1,max_rpc_cnt=0",
            "GresTypes=gpu", "SlurmdParameters=config_overrides", "ReturnToService=2", "MaxArraySize=10001", "MaxJobCount=50000",
            f"TreeWidth={hosts + 1}", *lines, f"PartitionName=all Nodes={nodes} Default=YES MaxTime=INFINITE State=UP", ""]))
        (self.folder / "gres.conf").write_text(f"AutoDetect=off\nNodeName={nodes} Name=gpu File={self.folder}/dev/nvidia[0-{GPUS - 1}]\n")
        self.env = {**os.environ, "SLURM_CONF": str(self.conf)}
        os.environ["SLURM_CONF"] = str(self.conf)
        self.daemons = [place.start(["slurmctld", "-D"], "slurmctld")]
        self.daemons += [place.start(["slurmd", "-D", "-N", f"n{i}"], f"slurmd-{i}") for i in range(hosts)]
        until(lambda: self.ask("sinfo", "-h", "-o", "%D %T") == f"{hosts} idle", "Slurm", 60)

    def ask(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, text=True).stdout.strip()

    def run(self, count, line):
        """Jobs a second."""
        before = self.ended()
        begun = time.monotonic()
        made = subprocess.run(["sbatch", "--parsable", f"--array=1-{count}", "--gres=gpu:1", "--output=/dev/null"], env=self.env, text=True,
                              input=f"#!/bin/sh\n{line}\n", capture_output=True)
        if made.returncode != 0:
            sys.exit(f"sbatch: {made.stderr}")
        until(lambda: self.ended() >= before + count, "Slurm's jobs", WITHIN_S)
        took = time.monotonic() - begun
        if bad := [line for line in self.done.read_text().splitlines() if "JobState=COMPLETED" not in line]:
            sys.exit(f"Slurm: {bad[0]}")
        return count / took

    def ended(self):
        return self.done.read_bytes().count(b"\n") if self.done.exists() else 0

    def close(self):
        until(lambda: not self.ask("squeue", "-h"), "Slurm's queue", 60)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait(60)
            self.place.processes.remove(daemon)


class Hostler:
    """`hostler up` with so many simulated hosts."""

    def __init__(self, place, build, hosts, *more):
        self.place, self.folder = place, place.folder / f"hostler-{time.monotonic_ns()}"
        ready = self.folder / "ready.json"
        self.folder.mkdir()
        self.up = place.start([build / "hostler", "up", "--data", self.folder / "data", "--listen", "127.0.0.1:0", "--ready-file", ready,
                               "--simulate", f"hosts={hosts},gpus={GPUS},model=H100 SXM5 80GB", *more], "up", gentle=True)
        until(lambda: ready.exists() or self.up.poll() is not None, "hostler up", 120)
        if self.up.poll() is not None:
            sys.exit((place.folder / "up.log").read_text())
        told = json.loads(ready.read_text())
        self.at, self.keys = urllib.parse.urlsplit(told["api"]), [told["token"]]
        self.ask("POST", "/v1/tenants", {"name": "bench", "programs": True})
        self.ask("POST", "/v1/specs", {"name": "one", "cpu": "1", "memory": "64Mi", "gpuType": "H100 SXM5 80GB", "gpuNum": 1})
        self.keys = [self.ask("POST", "/v1/api-keys", {"name": f"lane-{lane}", "isOperator": True})["secret"] for lane in range(LANES)]
        self.lanes = [self.connection() for _ in range(LANES)]
        until(lambda: sum(host["state"] == "ready" for host in self.ask("GET", "/v1/hosts?limit=1000")["items"]) == hosts, "hosts", 120)

    def connection(self):
        return http.client.HTTPConnection(self.at.hostname, self.at.port, timeout=60)

    def ask(self, method, path, body=None, lane=0, connection=None):
        connection = connection or self.connection()
        while True:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Authorization": "Bearer " + self.keys[lane], "Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status == 429:
                time.sleep(float(answer.headers.get("Retry-After", "1")))
                continue
            if answer.status // 100 != 2:
                sys.exit(f"{method} {path}: {answer.status} {text.decode()}")
            return json.loads(text)

    def run(self, count, job):
        """Jobs a second."""
        name = f"run-{time.monotonic_ns()}"

        def some(lane):
            for number in range(lane, count, LANES):
                self.ask("POST", "/v1/jobs", {"name": f"{name}-{number}", "tenantID": "bench", "specName": "one", **job}, lane, self.lanes[lane])

        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            list(pool.map(some, range(LANES)))
        until(lambda: self.unfinished() == 0, "Hostler's jobs", WITHIN_S)
        took = time.monotonic() - begun
        last = self.ask("GET", f"/v1/jobs/{name}-{count - 1}?tenantID=bench")
        failed = self.ask("GET", "/v1/jobs?state=failed&limit=1&tenantID=bench")["items"]
        if last["state"] != "succeeded" or failed:
            sys.exit(f"Hostler: {last} {failed}")
        return count / took

    def unfinished(self):
        queues = self.ask("GET", "/v1/queues?tenantID=bench")["items"]
        return sum(one["waitingElements"] + one["runningElements"] for one in queues if not one["project"] and not one["user"])

    def close(self):
        self.up.send_signal(signal.SIGINT)
        self.up.wait(120)
        self.place.processes.remove(self.up)


def beside(bench, name, options, hosts, ours, theirs, gate):
    """`ours` and `theirs` each give jobs a second, in a place."""
    rates = {ours: [], theirs: []}
    for turn in range(options.rounds):
        for side in (ours, theirs) if turn % 2 == 0 else (theirs, ours):
            with Place() as place:
                rates[side].append(side(place))
            print(f"{name}: {'ours' if side is ours else 'Slurm'} {rates[side][-1]:.1f} jobs a second on {hosts} hosts", file=sys.stderr)
    us, them = median(rates[ours]), median(rates[theirs])
    bench.row(name, "jobs/s", us, "Slurm", them, us / them, gate)


def by_slurm(hosts, count, line):
    def run(place):
        slurm = Slurm(place, hosts)
        rate = slurm.run(count, line)
        slurm.close()
        return rate
    return run


def by_hostler(options, hosts, count, job, *more):
    def run(place):
        hostler = Hostler(place, pathlib.Path(options.build).absolute(), hosts, *more)
        rate = hostler.run(count, job)
        hostler.close()
        return rate
    return run


def bench_jobs(options, place, *more):
    folder = place.folder / "store"
    folder.mkdir()
    words = [pathlib.Path(options.build) / "bench-jobs", "--folder", folder, *more]
    ended = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, timeout=WITHIN_S * 2)
    if ended.returncode != 0:
        sys.exit(ended.returncode)
    return json.loads(ended.stdout)


def waiting(bench, options):
    with Place() as place:
        got = bench_jobs(options, place, "--pending", options.pending, "--queues", options.queues)
    bench.row("memory", "B/waiting job", got["bytes"], gate="<= 2048")
    bench.row("submits", "1/s", got["submits"])
    for phase in ("quiet", "changing", "ending", "freed"):
        bench.row(f"round-{phase}", "ms p99", got[phase]["round_p99_ms"], gate="<= 50")
        bench.row(f"piece-{phase}", "ms max", got[phase]["piece_max_ms"])


def main():
    options = arguments(__doc__, hosts=(64, "hosts of eight GPUs of `master`"), jobs=(4_000, "jobs of it"), slurm_jobs=(800, "of Slurm beside it"),
                        agents=(16, "hosts of `agents`"), programs=(200, "programs of each side"), rounds=(1, "turns of each side"),
                        pending=(100_000, "waiting jobs"), queues=(1_000, "that they wait in"),
                        parts=("master,agents,programs,waiting", "to run"), build=(str(RELEASE), "folder of the executables"))
    if missing := [name for name in ("slurmctld", "slurmd", "sbatch") if not shutil.which(name)]:
        sys.exit(f"{' '.join(missing)}: not installed")
    bench = Bench("jobs")
    parts = options.parts.split(",")
    if "master" in parts:
        beside(bench, "master", options, options.hosts,
               lambda place: bench_jobs(options, place, "--hosts", options.hosts, "--run", options.jobs)["jobs_per_s"],
               by_slurm(options.hosts, options.slurm_jobs, "exit 0"), ">= 10")
    if "agents" in parts:
        with Place() as place:
            rate = by_hostler(options, options.agents, options.slurm_jobs, {"image": "x", "cmd": "exit 0"}, "--engine", "sim")(place)
        bench.row("agents", "jobs/s", rate)
    if "programs" in parts:
        beside(bench, "programs", options, 1, by_hostler(options, 1, options.programs, {"program": True, "cmd": "/bin/true"}, "--programs"),
               by_slurm(1, options.programs, "/bin/true"), ">= 1")
    if "waiting" in parts:
        waiting(bench, options)
    bench.report(options.json)


if __name__ == "__main__":
    main()
