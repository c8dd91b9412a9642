"""A start from stock beside the bare engine: from the call until the port answers, in interleaved pairs.

start-overhead-*: POST /gpu-instances until the instance is running and its port answers, less podman's create and start
of the same image in the same network with the same limits until its port answers; the differences of pairs.
start-sim-p99: the same call until the instance is running on the simulated engine, less the time that this one takes to
answer and to start a container: what the platform alone costs.
"""

import http.client
import json
import socket
import sys
import time

from bench import Bench, Place, arguments, median, quantile, until
from gateway import call, cloud, instance, shown


SIM_START_MS = 202  # EngineTimes::call and ::start in src/adapters/sim/engine.h: the one call that a start cannot do without.
WARM = 4  # Starts before the first that counts: each host has the image then.


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
        told = cloud(place)
        engine = Engine(str(place.folder / "data" / "engine" / "podman.sock"))
        # One instance stays, that the network of the project does; it also tells what the platform asks the engine for.
        stays(told, "stays")
        model = engine.ask("GET", f"/containers/{containers(engine, 'stays')[0]['Id']}/json")
        network = next(iter(model["NetworkSettings"]["Networks"]))
        ours, bare = [], []
        for i in range(-WARM, options.pairs):
            for side in (one_of_ours, one_of_theirs) if i % 2 == 0 else (one_of_theirs, one_of_ours):
                took = side(told, engine, model, network, i + WARM)
                if i < 0:
                    continue
                (ours if side is one_of_ours else bare).append(took)
        differences = [a - b for a, b in zip(ours, bare)]
        print(f"ours {median(ours):.1f} ms, bare podman {median(bare):.1f} ms, median of {options.pairs} pairs", file=sys.stderr)
        bench.row("start-overhead-p50", "ms", median(differences), gate="<= 50", goal="<= 20")
        bench.row("start-overhead-p99", "ms", quantile(differences, 0.99))


def runs(told, name):
    """Waits for it, and looks often: whoever waits is part of what is measured."""
    end = time.monotonic() + 60
    while (seen := shown(told, name))["state"] != "running":
        if time.monotonic() > end or seen["state"] in ("failed", "lost"):
            sys.exit(f"{name} does not run: {seen}")
        time.sleep(0.001)
    return seen


def stays(told, name):
    wait_for_slot(told)
    instance(told, name, 8080)
    return runs(told, name)


def wait_for_slot(told):
    until(lambda: json.loads(call(told["api"], "GET", "/v1/stocks/bench", told["token"])[1]).get("idle", 0) > 0, "a slot in stock", 60)


def one_of_ours(told, engine, model, network, i):
    name = f"pair-{i}"
    wait_for_slot(told)
    begun = time.monotonic()
    instance(told, name, 8080)
    # Not asked before it runs: the kernel would remember for a second that nobody has the address.
    took = (answers(runs(told, name)["address"]) - begun) * 1000
    call(told["api"], "DELETE", f"/gpu-instances/{name}?tenantID=bench", told["token"])
    until(lambda: shown(told, name)["state"] == "stopped", "the instance ends", 60)
    return took


def one_of_theirs(told, engine, model, network, i):
    limits = {key: model["HostConfig"].get(key) for key in ("Memory", "NanoCpus", "PidsLimit")}
    body = {"Image": model["Config"]["Image"], "HostConfig": {**{key: value for key, value in limits.items() if value}, "NetworkMode": network}}
    begun = time.monotonic()
    made = engine.ask("POST", f"/containers/create?name=bare-{i}", body)["Id"]
    engine.ask("POST", f"/containers/{made}/start")
    address = engine.ask("GET", f"/containers/{made}/json")["NetworkSettings"]["Networks"][network]["IPAddress"]
    took = (answers(address) - begun) * 1000
    engine.ask("DELETE", f"/containers/{made}?force=true")
    return took


def simulated(bench, options):
    with Place() as place:
        told = cloud(place, "--engine", "sim")
        took = []
        for i in range(-WARM, options.pairs):
            name = f"sim-{i + WARM}"
            wait_for_slot(told)
            begun = time.monotonic()
            instance(told, name, 8080)
            runs(told, name)
            if i >= 0:
                took.append((time.monotonic() - begun) * 1000 - SIM_START_MS)
            call(told["api"], "DELETE", f"/gpu-instances/{name}?tenantID=bench", told["token"])
            until(lambda: shown(told, name)["state"] == "stopped", "the instance ends", 60)
        print(f"simulated engine: p50 {median(took):.1f} ms", file=sys.stderr)
        bench.row("start-sim-p99", "ms", quantile(took, 0.99), goal="<= 5")


def main():
    options = arguments(__doc__.splitlines()[0], pairs=(200, "pairs"))
    bench = Bench("start")
    simulated(bench, options)
    pairs(bench, options)
    bench.report(options.json)


if __name__ == "__main__":
    main()
