"""Durable writes a second through the whole master, beside etcd's puts on the same disk.

Each of ours is a request to the API: a zone is made, with its event and its line in the audit, in one commit that is
durable before it is answered. etcd's are puts of as many bytes through its own HTTP gateway. All by turns, from as many
connections, several rounds; the medians are reported. One machine, one server each, no standby.

writes:     acknowledged a second.
write-cpu:  of the servers (with PostgreSQL: its processes too), microseconds a write.
"""

import http.client
import pathlib
import re
import shutil
import subprocess
import sys

from bench import RELEASE, Bench, Place, arguments, children, cpu_ns, free_port, listens, median, until

POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")
KEY = "hk_store-of-a-cloud-that-is-measured"
VALUE = 600  # Bytes of a put: about what a zone's commit has, object, event and audit line together.

OURS = """
local made = 0
local run = "%s"
request = function()
    made = made + 1
    return wrk.format("POST", "/v1/zones", {["Authorization"] = "Bearer %s", ["Content-Type"] = "application/json"},
                      '{"name":"z' .. run .. string.format("%%x", made) .. '"}')
end
"""
ETCD = """
local made = 0
local value = "%s"
local digits = "abcdefghijklmnop"
request = function()
    made = made + 1
    local key, left = "", made
    for i = 1, 8 do key = key .. digits:sub(left %% 16 + 1, left %% 16 + 1); left = math.floor(left / 16) end
    return wrk.format("POST", "/v3/kv/put", {["Content-Type"] = "application/json"}, '{"key":"' .. key .. '","value":"' .. value .. '"}')
end
"""


class Server:
    """One that takes writes: its processes, its port, what wrk sends."""

    def __init__(self, name, port, processes, script):
        self.name, self.port, self.processes, self.script = name, port, processes, script
        self.rates, self.cpu = [], []

    def measure(self, place, turn, options):
        script = place.file(f"{self.name}.lua", self.script(turn))
        pids = [pid for process in self.processes for pid in children(process.pid)]
        before = cpu_ns(pids)
        words = ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "--timeout", "10s", "-s", script, f"http://127.0.0.1:{self.port}"]
        ran = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if ran.returncode != 0 or "Non-2xx" in ran.stdout or "Socket errors" in ran.stdout:
            sys.exit(f"{self.name}: {ran.stdout}{ran.stderr}")
        writes = int(re.search(r"(\d+) requests in", ran.stdout)[1])
        seconds = float(re.search(r"requests in ([\d.]+)s", ran.stdout)[1])
        self.rates.append(writes / seconds)
        self.cpu.append((cpu_ns(pids) - before) / 1000 / writes)
        print(f"{self.name}: {self.rates[-1]:.0f} writes/s, {self.cpu[-1]:.0f} us of CPU each", file=sys.stderr)


def master(place, name, options, store=()):
    port = free_port()
    folder = place.folder / name
    folder.mkdir()
    place.file(f"{name}/operator.key", KEY)
    process = place.start([pathlib.Path(options.build).absolute() / "hostler", "master", "--data", folder, "--api", f"127.0.0.1:{port}",
                           "--wire", f"127.0.0.1:{free_port()}", "--templates", "", *store], name)

    def leads():
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False

    until(leads, f"master on {name}")
    return port, process


def postgres(place):
    folder = place.folder / "postgres"
    folder.mkdir()
    place.folder.chmod(0o755)
    shutil.chown(folder, "postgres", "postgres")
    port = free_port()
    as_postgres = ["runuser", "-u", "postgres", "--"]
    made = [*as_postgres, POSTGRES / "initdb", "-D", folder / "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-instructions"]
    subprocess.run([str(word) for word in made], check=True, capture_output=True)
    process = place.start(["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", POSTGRES / "postgres", "-D", folder / "data",
                           "-p", port, "-k", folder], "postgres", gentle=True)
    ready = [str(POSTGRES / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres"]
    until(lambda: subprocess.run(ready).returncode == 0, "PostgreSQL")
    return port, process


def etcd(place):
    port, peer = free_port(), free_port()
    process = place.start(["etcd", "--data-dir", place.folder / "etcd", "--listen-client-urls", f"http://127.0.0.1:{port}",
                           "--advertise-client-urls", f"http://127.0.0.1:{port}", "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                           "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}", "--initial-cluster", f"default=http://127.0.0.1:{peer}"], "etcd")
    until(lambda: listens(port), "etcd")
    return port, process


def main():
    options = arguments("Durable API writes a second, on SQLite and PostgreSQL, beside etcd.", seconds=(5, "of each measurement"),
                        rounds=(5, "of all"), connections=(64, "at once"), build=(str(RELEASE), "folder of the executables"))
    bench = Bench("store")
    with Place() as place:
        def ours(turn):
            return OURS % (f"{turn:x}-", KEY)

        def theirs(turn):
            return ETCD % ("A" * (VALUE * 4 // 3))

        database_port, database = postgres(place)
        port, process = master(place, "sqlite", options)
        sqlite = Server("sqlite", port, [process], ours)
        port, process = master(place, "postgresql", options, ("--store", f"postgresql://postgres@127.0.0.1:{database_port}/postgres"))
        postgresql = Server("postgresql", port, [process, database], ours)
        port, process = etcd(place)
        peer = Server("etcd", port, [process], theirs)
        for turn in range(options.rounds):
            for server in (sqlite, postgresql, peer):
                server.measure(place, turn, options)
        for server in (sqlite, postgresql):
            mine, its = median(server.rates), median(peer.rates)
            bench.row(f"writes-{server.name}", "1/s", mine, "etcd", its, ratio=mine / its)
            bench.row(f"write-cpu-{server.name}", "us", median(server.cpu), "etcd", median(peer.cpu))
    bench.report(options.json)


if __name__ == "__main__":
    main()
