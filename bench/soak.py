"""A cloud under random kills for a long while: what tenants begin and end leaves nothing behind.

Three masters on PostgreSQL with a synchronous standby, two access points, a gateway, two hosts with real containers. Every few
seconds one process is killed with SIGKILL: any role, the engine's service, the masters' sessions at the database; now and
then the primary is killed and its standby promoted. Meanwhile tenants make volumes, start instances with them, use them
through the gateway and by exec, and end them. Each third of the time spares some of the roles, so that they grow old.
In the end everything is stopped and must be as it was after the first round, and after that nothing must be there at all.
"""

import collections
import http.client
import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

from bench import RELEASE, Bench, Place, arguments, until
from gateway import call
from soak_watch import Watch, command_lines, growth, read, roles
from takeover import Postgres

TENANTS = ("red", "green", "blue")
ZONES = ("nj", "lon")
SPARED = ({"master", "access-nj", "gateway", "host-nj-1"}, {"master-2", "access-lon", "host-lon-1"}, {"master-3", "access-nj", "gateway", "host-nj-1"})
# What may grow with what was done: the record of it. All else must be as before when everything is stopped.
RECORDS = ("rows of objects", "rows of commands", "rows of events", "rows of ledger", "rows of audit", "bytes of ", "live admitted_keys", "live answer",
           "live instance stopped", "live instance failed", "live operation done", "live operation failed")
# Of these none may be missing either; what was just going when the soak began may be gone.
STANDING = ("live claim", "live slot", "live host ", "live gateway", "live access_point", "processes hostler")
INSTANCE_KIB_MAX = 32


class Away(Exception):
    """Not done within the time that a client tries."""


class Cloud:
    def __init__(self, place, postgres, options):
        self.place, self.data = place, place.folder / "data"
        store = "postgresql://postgres@" + ",".join(f"127.0.0.1:{port}" for port in postgres.ports) + "/hostler?target_session_attrs=read-write"
        ready = place.folder / "ready.json"
        self.up = place.start([pathlib.Path(options.build).absolute() / "hostler", "up", "--data", self.data, "--listen", "127.0.0.1:0",
                               "--ready-file", ready, "--masters", "3", "--store", store], "up", gentle=True)
        until(lambda: ready.exists() or self.up.poll() is not None, "hostler up", 120)
        if self.up.poll() is not None:
            sys.exit(read(place.folder / "up.log"))
        told = json.loads(ready.read_text())
        self.apis, self.gateway, self.key, self.image = told["masters"], told["gateway"], told["token"], told["demoImage"]
        self.cli = pathlib.Path(options.build).absolute() / "hostler"
        self.turns = itertools.count()

    def ask(self, method, path, body=None, key=None, within=120):
        """As a client does it: again, of another master, until somebody says more than that he cannot now."""
        end = time.monotonic() + within
        while time.monotonic() < end:
            try:
                status, answer = call(self.apis[next(self.turns) % len(self.apis)], method, path, key or self.key, body)
                if status not in (429, 502, 503, 504):
                    return status, json.loads(answer) if answer else {}
            except (OSError, ValueError, http.client.HTTPException):
                pass
            time.sleep(0.1)
        raise Away(f"{method} {path}")

    def wait(self, path, so, key, what, within=180):
        end = time.monotonic() + within
        while time.monotonic() < end:
            status, seen = self.ask("GET", path, key=key)
            if so(status, seen):
                return seen
            time.sleep(0.2)
        raise Away(f"{what}: {seen}")


class Tenant(threading.Thread):
    """Begins, uses and ends, one after the other; `rounds`: None for as long as it is not told to end."""

    def __init__(self, cloud, name, over, tallies):
        super().__init__(daemon=True)
        self.cloud, self.name, self.over, self.tallies = cloud, name, over, tallies
        self.key = cloud.ask("POST", "/v1/api-keys", {"name": "soak", "tenantID": name})[1]["secret"]
        self.number, self.volume, self.written = 0, None, None

    def run(self):
        while not self.over.is_set():
            self.round()

    def round(self):
        self.number += 1
        name = f"{self.name}-{self.number}"
        try:
            if self.volume is None:
                self.make_volume(name)
            self.begin(name)
        except Away as away:
            self.note("not begun", str(away))
        try:
            self.end(name)
            if self.number % 3 == 0 or self.over.is_set():
                self.drop_volume()
        except Away as away:
            self.note("not ended", str(away))

    def note(self, what, more=""):
        self.tallies[what] += 1
        if more:
            print(f"{self.name}: {what}: {more[:300]}", file=sys.stderr)

    def make_volume(self, name):
        body = {"name": name, "size": "300Mi", "zone": ZONES[self.number % 2]}
        status, answer = self.cloud.ask("POST", "/v1/volumes", body, self.key)
        if status not in (200, 201, 202, 409):  # It was there by the first of two tries.
            raise Away(f"volume {status} {answer}")
        self.volume, self.written = name, None

    def begin(self, name):
        body = {"instanceID": name, "tenantID": self.name, "tenantName": self.name, "image": self.cloud.image, "storageID": self.volume,
                "specName": "soak", "template": {
                    "ports": [{"port": 8080, "protocol": "TCP", "isPublic": True, "isProbe": True, "baseUrl": ""}],
                    "volumes": [{"name": "", "mountPath": "/data", "readOnly": False}]}}
        end = time.monotonic() + 120
        while True:
            status, answer = self.cloud.ask("POST", "/gpu-instances", body, self.key)
            if status == 200:
                break
            if time.monotonic() > end:
                raise Away(f"start {status} {answer}")
            time.sleep(0.5)  # The slot or the volume of the last one is not free yet.
        seen = self.cloud.wait(f"/v1/instances/{name}", lambda _, seen: seen.get("state") in ("running", "failed", "lost"), self.key, name)
        if seen["state"] != "running":
            return self.note("failed", str(seen.get("reason") or seen))
        self.note("ran")
        self.use(name, urllib.parse.urlsplit(seen["urls"][0]["url"]).netloc)

    def use(self, name, host):
        if self.written and self.request("GET", "/files/kept", host) != self.written:
            self.note("lost a file", name)
        for i in range(10):
            if self.request("GET", "/healthz", host) is not None:
                self.note("requests")
        word = f"{name} was here"
        if self.request("PUT", "/files/kept", host, word) is not None:
            self.written = word
        ran = subprocess.run([self.cloud.cli, "exec", name, "--", "/demo", "whoami"], stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, env={**os.environ, "HOSTLER_API": ",".join(self.cloud.apis), "HOSTLER_KEY": self.key}, timeout=300)
        self.note("exec" if ran.returncode == 0 else "exec failed", ran.stderr)

    def request(self, method, path, host, body=None):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                status, answer = call(self.cloud.gateway, method, path, body=body, host=host, content="text/plain")
                if status // 100 == 2:
                    return answer.decode()
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.1)
        self.note("requests failed", f"{method} {host}{path}")
        return None

    def end(self, name):
        self.cloud.ask("DELETE", f"/gpu-instances/{name}", key=self.key)
        self.cloud.wait(f"/v1/instances/{name}", lambda status, seen: status == 404 or seen.get("state") in ("stopped", "failed"), self.key, name)
        self.note("ended")

    def drop_volume(self):
        if self.volume:
            path = f"/v1/volumes/{self.volume}"
            self.cloud.wait(path, lambda *_: self.cloud.ask("DELETE", path, key=self.key)[0] in (200, 202, 204, 404), self.key, "volume")
            self.volume = None


class Killer(threading.Thread):
    def __init__(self, cloud, postgres, over, options, kills):
        super().__init__(daemon=True)
        self.cloud, self.postgres, self.over, self.options, self.kills = cloud, postgres, over, options, kills
        self.dice = random.Random(options.seed)
        self.begun = time.monotonic()

    def run(self):
        failover = time.monotonic() + self.options.failover_s
        while not self.over.wait(self.dice.uniform(2, 2 * self.options.every_s - 2)):
            if time.monotonic() > failover:
                self.postgres.fail_over()
                self.over.wait(5)
                self.postgres.add_standby()
                self.kills["primary"] += 1
                failover = time.monotonic() + self.options.failover_s
                continue
            third = min(2, int((time.monotonic() - self.begun) / (self.options.minutes * 20)))
            there = roles(self.cloud.data)
            names = sorted(set(there) - SPARED[third]) + ["engine", "sessions"]
            name = self.dice.choice(names)
            if name == "sessions":
                self.postgres.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'hostler' AND pid <> pg_backend_pid()")
            elif pid := there.get(name) or engine_service(self.cloud.data):
                os.kill(pid, signal.SIGKILL)
            self.kills[name.rstrip("-123") if name.startswith("master") else name] += 1


def engine_service(data):
    return next((pid for pid, words in command_lines(data).items() if f"unix://{data}/engine/podman.sock" in words), None)


def compare(before, now):
    """What is not as it was, of what must be."""
    wrong = []
    for name in sorted(before.keys() | now.keys()):
        was, is_now = before.get(name, 0), now.get(name, 0)
        if name.startswith(RECORDS):
            continue
        if is_now > was or is_now < was and name.startswith(STANDING):
            wrong.append(f"{name}: {was} before, {is_now} now")
    return wrong


def settled(watch, before, within):
    """Waits until it is as before; what is still wrong then, and all that is there."""
    end = time.monotonic() + within
    while True:
        now = watch.look()
        wrong = compare(before, now) if now else ["the store or the engine does not answer"]
        if not wrong or time.monotonic() > end:
            return wrong, now
        time.sleep(2)


def gone(watch):
    """What is left of a cloud that was stopped."""
    left = {"processes": [words[:6] for words in command_lines(watch.data).values()], "mounts": watch.mounts(), "loop devices": [str(p) for p in watch.loops()],
            "network namespaces": watch.namespaces(), "bridges": [one for one in watch.bridges if one in os.listdir("/sys/class/net")]}
    return [f"left after the end: {name}: {some[:5]}" for name, some in left.items() if some]


def report(bench, watch, before, after, cycles, kills, tallies, options):
    print("\n== what was done\n" + ", ".join(f"{name} {count}" for name, count in sorted(tallies.items())))
    print("== killed\n" + ", ".join(f"{name} {count}" for name, count in sorted(kills.items())))
    print("== at the beginning, and after the end")
    for name in sorted(before.keys() | after.keys()):
        print(f"  {name:45} {before.get(name, 0):>12} {after.get(name, 0):>12}")
    print("== a minute of life, of processes older than a minute")
    wrong = []
    rate = cycles / options.minutes
    for kind in ("master", "access", "gateway", "host"):
        grown = growth(watch.lives, kind, 60, 60)
        if grown is None:
            print(f"  {kind}: none grew old enough")
            continue
        print(f"  {kind:8} {grown['lives']} lives, the longest {grown['longest']:.0f} s: KiB {grown['memory']:+.0f} (worst {grown['memory_max']:+.0f}), "
              f"descriptors {grown['files']:+.2f} (worst {grown['files_max']:+.2f})")
        # What has ended is remembered for a time (docs/operate/limits.md), so memory is counted by instance.
        bench.row(f"soak-{kind}-memory", "KiB/instance", grown["memory"] / max(1, rate))
        bench.row(f"soak-{kind}-files", "1/min", grown["files"])
        if grown["files"] > 1:
            wrong.append(f"{kind}: {grown['files']:.2f} more descriptors each minute")
        if grown["memory"] / max(1, rate) > INSTANCE_KIB_MAX:
            wrong.append(f"{kind}: {grown['memory'] / max(1, rate):.1f} KiB more with each instance")
    bench.row("soak-instances", "", cycles)
    bench.row("soak-kills", "", sum(kills.values()))
    for name in sorted(name for name in after if name.startswith("rows of ")):
        bench.row(f"soak-{name.replace(' ', '-')}-per-instance", "", (after[name] - before.get(name, 0)) / max(1, cycles))
    return wrong


def main():
    options = arguments(__doc__.splitlines()[0], minutes=(20.0, "how long"), every_s=(4.0, "seconds between two kills, on average"),
                        failover_s=(240.0, "seconds between two deaths of the primary"), seed=(1, "of the kills"),
                        build=(str(RELEASE), "folder of the executables"),
                        keep=("", "folder to which the logs go when something is wrong"))
    bench, kills, tallies, wrong = Bench("soak"), collections.Counter(), collections.Counter(), []
    with Place() as place:
        postgres = Postgres(place)
        cloud = Cloud(place, postgres, options)
        watch = Watch(place, postgres)
        status, answer = cloud.ask("POST", "/stocks", {"number": 10, "operationID": "soak", "specName": "soak", "cpu": "1", "memory": "256Mi",
                                                       "gpuType": "H100 SXM5 80GB", "gpuNum": 1})
        if status != 200:
            sys.exit(f"stock: {status} {answer}")
        over = threading.Event()
        tenants = [Tenant(cloud, name, over, tallies) for name in TENANTS]
        for tenant in tenants:
            for _ in range(3):
                tenant.round()
        time.sleep(15)
        before = until(watch.look, "what is there at the beginning", 60)
        ended = tallies["ended"]
        killer = Killer(cloud, postgres, over, options, kills)
        for thread in [*tenants, killer]:
            thread.start()
        end = time.monotonic() + options.minutes * 60
        while time.monotonic() < end:
            watch.note(tallies["ended"])
            time.sleep(5)
            if not any(tenant.is_alive() for tenant in tenants):
                sys.exit("no tenant lives")
        over.set()
        if not killer.is_alive():
            wrong.append("whoever kills was killed")
        for thread in [killer, *tenants]:
            thread.join(600)
        for tenant in tenants:
            tenant.drop_volume()
        left, after = settled(watch, before, 60)  # Podman keeps the shim of a command for 20 s.
        wrong += left
        wrong += report(bench, watch, before, after or {}, tallies["ended"] - ended, kills, tallies, options)
        wrong += [f"{what}: {tallies[what]}" for what in ("not begun", "not ended", "lost a file", "requests failed") if tallies[what]]
        cloud.up.send_signal(signal.SIGINT)
        cloud.up.wait(120)
        wrong += gone(watch)
        if wrong and options.keep:
            subprocess.run(["cp", "-r", str(place.folder / "data" / "logs"), options.keep])
    bench.report(options.json)
    if wrong:
        sys.exit("\n".join(["", "== wrong", *wrong]))


if __name__ == "__main__":
    main()
