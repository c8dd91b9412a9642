"""From the death of the leading master to the next write that is acknowledged, over and over, under load.

Three masters on PostgreSQL with a synchronous standby. Clients write without pause, each to all masters in turn, and keep
what was acknowledged: in the end all of that must be there, and nothing may have been done twice.

takeover-*:          the leader is killed with SIGKILL.
takeover-asleep-max: it is stopped with SIGSTOP, and goes on later as if nothing had happened.
takeover-cut-max:    what it sends to the database is lost for a while.
takeover-store-max:  the primary is killed and the standby promoted. With it goes half a second of ours to promote it.
"""

import http.client
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid

from bench import RELEASE, Bench, Place, arguments, free_port, median, until

POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")
KEY = "hk_takeover"
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
                    sys.exit(f"POST /v1/zones: {status}")
                turn += 1
                time.sleep(0.02)
            time.sleep(0.02)

    def post(self, connections, api, name, key):
        try:
            if api not in connections:
                connections[api] = http.client.HTTPConnection("127.0.0.1", api, timeout=2)
            headers = {"Authorization": "Bearer " + KEY, "Content-Type": "application/json", "Idempotency-Key": key}
            connections[api].request("POST", "/v1/zones", json.dumps({"name": name}), headers)
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
        until(found, "a write that is acknowledged", 60)
        return min(found()) - moment

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(10)


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
    if lost or twice:
        sys.exit(f"lost: {sorted(lost)[:5]}, done twice: {sorted(twice)[:5]}")


def main():
    options = arguments("Time from a leader's death to the next acknowledged write.", kills=(50, "rounds of SIGKILL"),
                        others=(3, "rounds of each of the others"), asleep_s=(60.0, "seconds that a stopped leader is stopped"),
                        kinds=("killed,asleep,cut,store", "which of them"), clients=(6, "clients that write"), lease=(0.0, "--lease of the masters; 0: their own"),
                        build=(str(RELEASE), "folder of the executables"))
    bench = Bench("takeover")
    with Place() as place:
        postgres = Postgres(place)
        made = [pathlib.Path(options.build) / "hostler", "ca", "issue", "access/any", "--master-data", place.folder, "--out", place.folder / "any"]
        subprocess.run(made, check=True)
        masters = [Master(place, postgres, USER + i, place.folder / "authority", options) for i in range(3)]
        for one in masters:
            one.start()
        writers = Writers(masters, options.clients)
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
        check(masters, writers, postgres)
    bench.report(options.json)


if __name__ == "__main__":
    main()
