"""A start from stock and one without, beside the bare engine: from the call until the port answers, by turns.

start-from-stock, start-without-stock: POST /gpu-instances until the instance is running and its port answers.
start-bare: podman's create and start of the same image with the same limits, in a bridge network of its own, until its
port answers; by a service of podman that runs beside ours on the same storage, as it is installed. start-stock-of-bare: the median over the rounds of start-from-stock divided by start-bare.
start-overhead-*: the differences of start-from-stock and start-bare.
start-sim-p99: the same call until the instance is running on the simulated engine, less the time that this one takes to
answer and to start a container: what the platform alone costs.
start-written: what the master writes to the disk for a create and a delete of an instance, up to a minute after it has
ended, less what it writes in the same time without work; on SQLite.
"""

import http.client
import json
import pathlib
import socket
import sys
import time
import urllib.parse

from bench import RELEASE, Bench, Place, arguments, median, quantile, until
from gateway import call, cloud, instance, pids_of, shown


SIM_START_MS = 202  # EngineTimes::call and ::start in src/adapters/sim/engine.h: the one call that a start cannot do without.
WARM = 4  # Starts before the first that counts: each host has the image then.
STOCK = {"spec": "bench", "zone": "nj"}
DIRECT = {"spec": "direct", "zone": "lon"}
NETWORK = "bare"  # Of the bare engine's containers.
IDLE_S = 20  # Of the cloud without work.
ARCHIVED_S = 70  # An ended instance leaves the master's memory for its archive within them.


class Engine(http.client.HTTPConnection):
    """Podman's Docker API on its unix socket."""

    def __init__(self, path):
        super().__init__("engine", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self, method, path, body=None):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        self.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = self.getresponse()
        text = answer.read()
        if answer.status >= 400:
            sys.exit(f"{method} {path}: {answer.status} {text}")
        return json.loads(text) if text else {}


def answers(address):
    """Asks until the port answers; both sides are asked in this way."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            with socket.create_connection((address, 8080), timeout=1) as connection:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                if b"200" in connection.recv(64):
                    return time.monotonic()
        except OSError:
            pass
        time.sleep(0.001)
    sys.exit(f"{address} does not answer")


def containers(engine, name):
    filters = json.dumps({"label": ["hostler.instance"]})
    every = engine.ask("GET", "/containers/json?all=true&filters=" + filters.replace('"', "%22").replace(" ", ""))
    return [one for one in every if name in json.dumps(one["Labels"])]


def pairs(bench, options):
    with Place() as place:
        told = cloud(place, build=build_of(options))
        engine = bare_engine(place)
        status, answer = call(told["api"], "POST", "/v1/specs", told["token"],
                              {"name": "direct", "cpu": "2", "memory": "256Mi", "gpuType": "H100 SXM5 80GB", "gpuNum": 1})
        if status >= 300:
            sys.exit(f"spec: {status} {answer}")
        # One instance stays on each host, that the network of the project does; it also tells what the platform asks
        # the engine for. The host in lon has no stock.
        wait_for_slot(told)
        for name, more in (("stays", STOCK), ("stays-too", DIRECT)):
            instance(told, name, 8080, **more)
            runs(told, name)
        model = engine.ask("GET", f"/containers/{containers(engine, 'stays')[0]['Id']}/json")
        engine.ask("POST", "/networks/create", {"Name": NETWORK, "Driver": "bridge"})
        kept = engine.ask("POST", "/containers/create?name=bare-stays", bare_body(model))["Id"]
        engine.ask("POST", f"/containers/{kept}/start")
        sides = {"stock": lambda i: one_of_ours(told, f"stock-{i}", STOCK), "direct": lambda i: one_of_ours(told, f"direct-{i}", DIRECT),
                 "bare": lambda i: one_of_theirs(engine, model, i)}
        took = {name: [] for name in sides}
        for i in range(-WARM, options.pairs):
            for name in sorted(sides, reverse=i % 2 == 0):
                ms = sides[name](i + WARM)
                if i >= 0:
                    took[name].append(ms)
        engine.ask("DELETE", f"/containers/{kept}?force=true")
        engine.ask("DELETE", f"/networks/{NETWORK}")
        stock, direct, bare = took["stock"], took["direct"], took["bare"]
        bench.row("start-from-stock", "ms", median(stock))
        bench.row("start-without-stock", "ms", median(direct))
        bench.row("start-bare", "ms", median(bare))
        bench.row("start-stock-of-bare", "", median([a / b for a, b in zip(stock, bare)]), gate="<= 1.0", goal="<= 0.6")
        differences = [a - b for a, b in zip(stock, bare)]
        bench.row("start-overhead-p50", "ms", median(differences), gate="<= 50", goal="<= 20")
        bench.row("start-overhead-p99", "ms", quantile(differences, 0.99))


def build_of(options):
    return pathlib.Path(options.build).absolute()


def runs(told, name):
    """Waits for it as `instance create --wait` does: by the events of its watch."""
    where = urllib.parse.urlsplit(told["api"])
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
    connection.request("GET", f"/v1/instances?watch=true&all=true&tenantID=bench&instance={name}",
                       headers={"Authorization": f"Bearer {told['token']}"})
    answer = connection.getresponse()
    if answer.status != 200:
        sys.exit(f"watch of {name}: {answer.status} {answer.read()}")
    for line in answer:
        if not line.startswith(b"data:") or b'"state"' not in line:
            continue
        seen = json.loads(line[len(b"data:"):])
        if seen["state"] in ("failed", "lost"):
            sys.exit(f"{name} does not run: {seen}")
        if seen["state"] == "running":
            connection.close()
            return seen
    sys.exit(f"the watch of {name} has ended")


def wait_for_slot(told):
    until(lambda: json.loads(call(told["api"], "GET", "/v1/stocks/bench", told["token"])[1]).get("idle", 0) > 0, "a slot in stock", 60)


def one_of_ours(told, name, more):
    wait_for_slot(told)
    begun = time.monotonic()
    instance(told, name, 8080, **more)
    # Not asked before it runs: the kernel would remember for a second that nobody has the address.
    took = (answers(runs(told, name)["address"]) - begun) * 1000
    ends(told, name)
    return took


def ends(told, name):
    call(told["api"], "DELETE", f"/gpu-instances/{name}?tenantID=bench", told["token"])
    until(lambda: shown(told, name)["state"] == "stopped", f"{name} ends", 60)


def bare_engine(place):
    data, socket = place.folder / "data" / "engine", place.folder / "bare.sock"
    place.start(["env", f"CONTAINERS_CONF={data}/containers.conf", f"CONTAINERS_STORAGE_CONF={data}/storage.conf",
                 "podman", "system", "service", "--time=0", f"unix://{socket}"], "bare-engine")
    until(socket.exists, "the bare engine", 20)
    return Engine(str(socket))


def bare_body(model):
    limits = {key: model["HostConfig"].get(key) for key in ("Memory", "NanoCpus", "PidsLimit")}
    return {"Image": model["Config"]["Image"], "HostConfig": {**{key: value for key, value in limits.items() if value}, "NetworkMode": NETWORK}}


def one_of_theirs(engine, model, i):
    begun = time.monotonic()
    made = engine.ask("POST", f"/containers/create?name=bare-{i}", bare_body(model))["Id"]
    engine.ask("POST", f"/containers/{made}/start")
    address = engine.ask("GET", f"/containers/{made}/json")["NetworkSettings"]["Networks"][NETWORK]["IPAddress"]
    took = (answers(address) - begun) * 1000
    engine.ask("DELETE", f"/containers/{made}?force=true")
    return took


def simulated(bench, options):
    with Place() as place:
        told = cloud(place, "--engine", "sim", build=build_of(options))
        master = pids_of(place, "master")
        idle = written(master)
        time.sleep(IDLE_S)
        idle = (written(master) - idle) / IDLE_S
        before, since = written(master), time.monotonic()
        took = []
        for i in range(-WARM, options.pairs):
            name = f"sim-{i + WARM}"
            wait_for_slot(told)
            begun = time.monotonic()
            instance(told, name, 8080)
            runs(told, name)
            if i >= 0:
                took.append((time.monotonic() - begun) * 1000 - SIM_START_MS)
            ends(told, name)
        time.sleep(ARCHIVED_S)
        each = (written(master) - before - idle * (time.monotonic() - since)) / (options.pairs + WARM)
        print(f"simulated engine: p50 {median(took):.1f} ms; without work {idle / 1024:.1f} KiB/s are written", file=sys.stderr)
        bench.row("start-sim-p99", "ms", quantile(took, 0.99), goal="<= 5")
        bench.row("start-written", "KiB", each / 1024, gate="<= 40")


def written(pids):
    """Bytes that these processes had the kernel write to the disk."""
    return sum(int(line.split()[1]) for pid in pids for line in open(f"/proc/{pid}/io") if line.startswith("write_bytes"))


def main():
    options = arguments(__doc__.splitlines()[0], pairs=(200, "pairs"), build=(str(RELEASE), "folder of the executables"))
    bench = Bench("start")
    simulated(bench, options)
    pairs(bench, options)
    bench.report(options.json)


if __name__ == "__main__":
    main()
