"""From the death of the leading master to the next write that is acknowledged, over and over, under load.

Three masters on PostgreSQL with a synchronous standby, an access point, and a host whose engine runs nothing. Clients write
without pause, each to all masters in turn, and keep what was acknowledged; others start and stop instances. In the end all that
was acknowledged must be there, nothing may have been done twice, the host may have begun no generation of an instance
twice, and no command of an epoch older than one that it had obeyed.

takeover-*:          the leader is killed with SIGKILL.
takeover-asleep-max: it is stopped with SIGSTOP, and goes on later as if nothing had happened.
takeover-cut-max:    what it sends to the database is lost for a while.
takeover-store-max:  the primary is killed and the standby promoted. With it goes half a second of ours to promote it.

`--objects` puts so many ended instances into the database before, with the names that they used, and `--live` so many that rest.
`--busy` processes per core do nothing but take CPU meanwhile.

What counts is the first write that anybody asks for after the death and that is acknowledged: from then on another client comes
every 50 ms, since those that wait for a master that stands still would hide the one that leads by now.
"""

import collections
import http.client
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid

from bench import RELEASE, Bench, Place, arguments, children, free_port, median, until
from seeds import for_postgres

POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")
KEY = "hk_takeover-of-a-cloud-that-is-measured"
OPERATOR = {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}
USER = 64100  # Of the first master, and so on: the packets of each can be told apart.


class Postgres:
    """A primary and its synchronous standby; the roles change with each failover."""

    def __init__(self, place):
        self.place = place
        self.folder = place.folder / "postgres"
        self.folder.mkdir()
        self.ports = [free_port(), free_port()]
        self.servers = [None, None]
        self.primary = 0
        shutil.chown(self.folder, "postgres", "postgres")
        place.folder.chmod(0o755)
        self.run("initdb", "-D", self.data(0), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-instructions")
        with open(self.data(0) / "postgresql.conf", "a") as conf:
            conf.write(f"unix_socket_directories = '{self.folder}'\nlisten_addresses = '127.0.0.1'\nwal_keep_size = 512MB\n")
        self.start(0)
        self.sql(0, "CREATE DATABASE hostler")
        self.add_standby()

    def data(self, which):
        return self.folder / f"data{which}"

    def run(self, program, *words):
        done = subprocess.run(["runuser", "-u", "postgres", "--", POSTGRES / program, *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{program}: {done.stdout}{done.stderr}")
        return done.stdout

    def sql(self, which, text, database="postgres"):
        return self.run("psql", "-h", "127.0.0.1", "-p", self.ports[which], "-U", "postgres", "-Atc", text, database).strip()

    def ask(self, text):
        """What the cloud's database says; "" when it does not answer."""
        words = [POSTGRES / "psql", "-h", "127.0.0.1", "-p", self.ports[self.primary], "-U", "postgres", "-Atc", text, "hostler"]
        return subprocess.run(list(map(str, words)), capture_output=True, text=True).stdout.strip()

    def start(self, which):
        words = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", POSTGRES / "postgres",
                 "-D", self.data(which), "-p", self.ports[which]]
        self.servers[which] = self.place.start(words, f"postgres{which}", gentle=True)
        ready = [str(POSTGRES / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.ports[which]), "-U", "postgres"]
        until(lambda: subprocess.run(ready).returncode == 0, "PostgreSQL")

    def add_standby(self):
        """The one that is not the primary, made anew."""
        standby = 1 - self.primary
        shutil.rmtree(self.data(standby), ignore_errors=True)
        self.sql(self.primary, "CHECKPOINT")
        self.run("pg_basebackup", "-h", "127.0.0.1", "-p", self.ports[self.primary], "-U", "postgres", "-D", self.data(standby),
                 "-R", "-X", "stream", "-c", "fast")
        self.start(standby)
        until(lambda: self.sql(self.primary, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "1", "the standby")
        self.sql(self.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.sql(self.primary, "SELECT pg_reload_conf()")
        until(lambda: self.sql(self.primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1", "the standby")

    def fail_over(self):
        dead = self.servers[self.primary]
        dead.send_signal(signal.SIGQUIT)
        dead.wait()
        time.sleep(0.5)  # Whoever watches over it takes some time to be sure.
        standby = 1 - self.primary
        with open(self.data(standby) / "postgresql.auto.conf", "a") as conf:
            conf.write("synchronous_standby_names = ''\n")  # None is there until it is made anew.
        self.run("pg_ctl", "promote", "-D", self.data(standby), "-t", "60")
        self.primary = standby


class Master:
    def __init__(self, place, postgres, user, authority, options):
        self.place, self.postgres, self.user, self.name = place, postgres, user, f"m-{user - USER + 1}"
        self.api, self.wire = free_port(), free_port()
        self.folder = place.folder / self.name
        self.folder.mkdir()
        place.file(f"{self.name}/operator.key", KEY)
        shutil.copytree(authority, self.folder / "authority")
        subprocess.run(["chown", "-R", f"{user}:{user}", self.folder], check=True)
        self.words = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups",
                      pathlib.Path(options.build).absolute() / "hostler", "master", "--data", self.folder, "--name", self.name,
                      "--api", f"127.0.0.1:{self.api}", "--wire", f"127.0.0.1:{self.wire}", "--templates", "", "--store",
                      "postgresql://postgres@" + ",".join(f"127.0.0.1:{port}" for port in postgres.ports)
                      + "/hostler?target_session_attrs=read-write"]
        if options.lease > 0:
            self.words += ["--lease", options.lease]

    def start(self):
        self.process = self.place.start(self.words, self.name)
        until(lambda: self.health(), f"master {self.name}")

    def health(self):
        """"" when it does not serve."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.api, timeout=1)
            connection.request("GET", "/healthz")
            answer = connection.getresponse()
            return answer.read().decode().strip() if answer.status == 200 else ""
        except (OSError, http.client.HTTPException):
            return ""


class Writers:
    """Clients that write without pause: a zone each time, asked for until it is acknowledged."""

    def __init__(self, masters, count):
        self.masters = masters
        self.acknowledged = []  # When it was first asked for, when it was acknowledged, name.
        self.failed = []  # Answers that no client should get.
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.write, args=(i,), daemon=True) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def write(self, turn):
        connections = {}
        while not self.over.is_set():
            name, key, begun = "z" + uuid.uuid4().hex[:16], uuid.uuid4().hex, time.monotonic()
            while not self.over.is_set():
                api = self.masters[turn % len(self.masters)].api
                status = self.post(connections, api, name, key)
                if status == 201:
                    self.acknowledged.append((begun, time.monotonic(), name))
                    turn += 1
                    break
                if status not in (None, 503):
                    self.failed.append(f"POST /v1/zones: {status}")
                turn += 1
                time.sleep(0.02)
            time.sleep(0.02)

    def once(self, turn):
        name, begun = "z" + uuid.uuid4().hex[:16], time.monotonic()
        if self.post({}, self.masters[turn % len(self.masters)].api, name, uuid.uuid4().hex) == 201:
            self.acknowledged.append((begun, time.monotonic(), name))

    def post(self, connections, api, name, key):
        try:
            if api not in connections:
                connections[api] = http.client.HTTPConnection("127.0.0.1", api, timeout=2)
            connections[api].request("POST", "/v1/zones", json.dumps({"name": name}), {**OPERATOR, "Idempotency-Key": key})
            answer = connections[api].getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            connections.pop(api, None)
            return None

    def next_after(self, moment):
        """Seconds until the first that was asked for after `moment` was acknowledged."""
        def found():
            return [done for begun, done, _ in self.acknowledged[-500:] if begun >= moment]
        for turn in range(1200):
            if found():
                return min(found()) - moment
            threading.Thread(target=self.once, args=(turn,), daemon=True).start()
            time.sleep(0.05)
        sys.exit("no write is acknowledged within 60 s")

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(10)


class Host:
    """An access point, and a simulated host of eight GPUs, with an engine that runs nothing."""

    def __init__(self, place, masters, programs):
        self.log = place.folder / "host.log"
        pattern = place.folder / "pattern"
        ready = place.folder / "pattern.json"
        up = place.start([programs / "hostler", "up", "--data", pattern, "--listen", "127.0.0.1:0", "--engine", "sim",
                          "--simulate", "hosts=1,gpus=8,model=H100 SXM5 80GB", "--ready-file", ready], "pattern", gentle=True)
        until(ready.exists, "a host to copy", 60)
        agent = next(pid for pid in children(up.pid) if b"hostler-agent" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0])
        words = pathlib.Path(f"/proc/{agent}/cmdline").read_bytes().decode().split("\0")[:-1]
        state = dict(line.split("=", 1) for line in pathlib.Path(f"/proc/{agent}/environ").read_bytes().decode().split("\0") if "=" in line)
        up.send_signal(signal.SIGINT)
        up.wait(60)
        place.processes.remove(up)
        ask(masters, "POST", "/v1/zones", {"name": "nj"}, 201)
        token = ask(masters, "POST", "/v1/host-tokens", {"zone": "nj"}, 201)["token"]
        uplink = f"127.0.0.1:{free_port()}"
        place.start([programs / "hostler", "access", "--data", place.folder / "any", "--zone", "nj", "--uplink", uplink, "--tunnel", "127.0.0.1:0",
                     "--control", "127.0.0.1:0", "--master", ",".join(f"127.0.0.1:{one.wire}" for one in masters)], "access")
        words[words.index("--data") + 1] = str(place.folder / "host")
        words[words.index("--access") + 1] = uplink
        os.environ.update(HOSTLER_TOKEN=token, HOSTLER_SIMULATED_NVML=state["HOSTLER_SIMULATED_NVML"])
        place.start(words, "host")
        until(lambda: any(host["state"] == "ready" for host in ask(masters, "GET", "/v1/hosts")["items"]), "the host", 60)

    def obeyed(self):
        """Of each command that was begun, in their order: epoch, verb, subject, generation."""
        return [(int(epoch), verb, subject, int(generation)) for epoch, verb, subject, generation in
                re.findall(r"command \S+ of epoch (\d+): (.+?) (\S+), generation (\d+)", self.log.read_text())]


def ask(masters, method, path, body=None, wanted=200):
    """Of any master, until one says more than that it cannot now; None when that is not what is `wanted`."""
    for turn in range(3000):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", masters[turn % len(masters)].api, timeout=2)
            connection.request(method, path, json.dumps(body) if body is not None else None, OPERATOR)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status not in (502, 503, 504):
                return json.loads(text) if answer.status == wanted else None
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.02)
    sys.exit(f"{method} {path}: nobody answers for a minute")


class Starters:
    """Clients that start instances and stop them, one after the other."""

    def __init__(self, masters, count):
        self.masters, self.over, self.ran = masters, threading.Event(), []
        ask(masters, "POST", "/stocks", {"number": count, "operationID": "stock", "specName": "small", "cpu": "1", "memory": "1Gi",
                                         "gpuType": "H100 SXM5 80GB", "gpuNum": 1})
        self.threads = [threading.Thread(target=self.work, args=(i,), daemon=True) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def work(self, which):
        number = 0
        while not self.over.is_set():
            number += 1
            name = f"one-{which}-{number}"
            body = {"instanceID": name, "tenantID": "bench", "tenantName": "Bench", "image": "demo:1", "specName": "small", "template": {}}
            while ask(self.masters, "POST", "/gpu-instances", body) is None and not self.over.wait(0.2):
                pass  # The last one's slot is not free yet.
            if self.reaches(name, ("running", "failed")):
                self.ran.append(name)
            ask(self.masters, "DELETE", f"/gpu-instances/{name}?tenantID=bench")
            self.reaches(name, ("stopped", "failed"))

    def reaches(self, name, states):
        for _ in range(600):
            seen = ask(self.masters, "GET", f"/v1/instances/{name}?tenantID=bench")
            if seen is None or seen["state"] in states:
                return seen is not None
            time.sleep(0.1)
        return False

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(120)


def seed(postgres, masters, objects, live):
    """Objects that were there before, while no master runs."""
    for one in masters:
        one.process.terminate()
        one.process.wait(60)
    number = int(postgres.sql(postgres.primary, "SELECT value FROM meta WHERE name = 'number'", "hostler"))
    rows = for_postgres(number, (objects - live) // 2, live)  # An ended one and its name are two.
    words = [POSTGRES / "psql", "-h", "127.0.0.1", "-p", postgres.ports[postgres.primary], "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1",
             "-c", "COPY objects (kind, id, tenant, project, phase, generation, created, version, state, body) FROM STDIN", "hostler"]
    copy = subprocess.Popen(list(map(str, words)), stdin=subprocess.PIPE, text=True)
    copy.stdin.writelines(rows)
    copy.stdin.close()
    if copy.wait() != 0:
        sys.exit("the objects are not in the database")
    postgres.sql(postgres.primary, "VACUUM ANALYZE objects", "hostler")
    for one in masters:
        one.start()
    settle(masters)
    print(f"{objects} objects, {live} of them live", file=sys.stderr)


def leader_of(masters):
    return until(lambda: next((one for one in masters if one.health() == "ok"), None), "a leader")


def settle(masters):
    until(lambda: all(one.health() for one in masters), "all masters", 60)
    time.sleep(0.2 + (time.monotonic() * 7919 % 1) * 0.6)  # Deaths come at any moment of a lease.


def killed(masters, writers, options):
    leader = leader_of(masters)
    moment = time.monotonic()
    leader.process.kill()
    took = writers.next_after(moment)
    leader.process.wait()
    leader.start()
    return took


def asleep(masters, writers, options):
    leader = leader_of(masters)
    moment = time.monotonic()
    leader.process.send_signal(signal.SIGSTOP)
    took = writers.next_after(moment)
    time.sleep(max(0, options.asleep_s - took))
    leader.process.send_signal(signal.SIGCONT)
    return took


def cut(masters, writers, options):
    leader = leader_of(masters)
    ports = ", ".join(map(str, leader.postgres.ports))
    try:
        for words in ("add table inet hostler_bench",
                      "add chain inet hostler_bench out { type filter hook output priority 0 ; }",
                      f"add rule inet hostler_bench out meta skuid {leader.user} tcp dport {{ {ports} }} drop"):
            subprocess.run(["nft", words], check=True)
        moment = time.monotonic()
        took = writers.next_after(moment)
        time.sleep(3)
    finally:
        subprocess.run(["nft", "delete table inet hostler_bench"], check=True)
    return took


def store(masters, writers, options):
    postgres = masters[0].postgres
    moment = time.monotonic()
    postgres.fail_over()
    took = writers.next_after(moment)
    postgres.add_standby()
    return took


def check(masters, writers, postgres):
    """What was acknowledged is there, and was done once."""
    acknowledged = {name for _, _, name in writers.acknowledged}
    rows = postgres.sql(postgres.primary, "SELECT subject, count(*) FROM audit WHERE operation = 'createZone' GROUP BY subject", "hostler")
    done = {line.split("|")[0].removeprefix("zone/"): int(line.split("|")[1]) for line in rows.splitlines()}
    there = set()
    connection = http.client.HTTPConnection("127.0.0.1", leader_of(masters).api, timeout=30)
    cursor = ""
    while cursor is not None:
        connection.request("GET", "/v1/zones?limit=1000" + (f"&cursor={cursor}" if cursor else ""), headers={"Authorization": "Bearer " + KEY})
        page = json.loads(connection.getresponse().read())
        there |= {zone["name"] for zone in page["items"]}
        cursor = page.get("nextCursor")
    lost = acknowledged - there | acknowledged - done.keys()
    twice = [name for name, count in done.items() if count > 1]
    print(f"{len(acknowledged)} acknowledged, {len(lost)} lost, {len(twice)} done twice", file=sys.stderr)
    if lost or twice or writers.failed:
        sys.exit(f"lost: {sorted(lost)[:5]}, done twice: {sorted(twice)[:5]}, refused: {writers.failed[:5]}")


def check_host(host, starters):
    """No start was begun twice, and no command of an epoch that was over."""
    obeyed = host.obeyed()
    starts = collections.Counter((subject, generation) for _, verb, subject, generation in obeyed if verb == "start")
    twice = [start for start, count in starts.items() if count > 1]
    stale = [later for before, later in itertools.pairwise(obeyed) if later[0] < before[0]]
    print(f"{len(starters.ran)} instances ran, {len(obeyed)} commands of {len({epoch for epoch, *_ in obeyed})} epochs obeyed, "
          f"{len(twice)} starts begun twice, {len(stale)} commands of an old epoch obeyed", file=sys.stderr)
    if twice or stale or not starters.ran or not starts:
        sys.exit(f"begun twice: {twice[:5]}, of an old epoch: {stale[:5]}")


def main():
    options = arguments("Time from a leader's death to the next acknowledged write.", kills=(50, "rounds of SIGKILL"),
                        others=(3, "rounds of each of the others"), asleep_s=(60.0, "seconds that a stopped leader is stopped"),
                        kinds=("killed,asleep,cut,store", "which of them"), clients=(6, "clients that write"), lease=(0.0, "--lease of the masters; 0: their own"),
                        objects=(0, "objects that are there before"), live=(0, "of them that rest and are loaded"),
                        busy=(0, "processes per core that only take CPU"), build=(str(RELEASE), "folder of the executables"))
    bench = Bench("takeover")
    with Place() as place:
        postgres = Postgres(place)
        programs = pathlib.Path(options.build).absolute()
        made = [programs / "hostler", "ca", "issue", "access/any", "--master-data", place.folder, "--out", place.folder / "any"]
        subprocess.run(made, check=True)
        masters = []
        for i in range(3):
            masters.append(Master(place, postgres, USER + i, place.folder / "authority", options))
            masters[i].start()
            if i == 0:  # The others are given the keys that it has made.
                shutil.copy(masters[0].folder / "authority" / "sealing.keys", place.folder / "authority")
        if options.objects:
            seed(postgres, masters, options.objects, options.live)
        host = Host(place, masters, programs)
        starters = Starters(masters, 4)
        writers = Writers(masters, options.clients)
        for i in range(options.busy * os.cpu_count()):
            place.start([sys.executable, "-c", "while True: pass"], f"busy{i}")
        for kind, rounds in ((killed, options.kills), (asleep, options.others), (cut, options.others), (store, options.others)):
            took = []
            for _ in range(rounds if kind.__name__ in options.kinds.split(",") else 0):
                settle(masters)
                took.append(kind(masters, writers, options))
                print(f"{kind.__name__}: {took[-1]:.3f} s", file=sys.stderr)
            if kind is killed and took:
                bench.row("takeover-p50", "s", median(took))
                bench.row("takeover-max", "s", max(took), gate="<= 3", goal="<= 1")
            elif took:
                bench.row(f"takeover-{kind.__name__}-max", "s", max(took))
        settle(masters)
        writers.end()
        starters.end()
        check(masters, writers, postgres)
        check_host(host, starters)
    bench.report(options.json)


if __name__ == "__main__":
    main()
