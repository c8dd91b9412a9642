"""What roles cost: one decision, and calls to a master with many tenants, users and keys beside one with one key.

A master on SQLite for each side. CPU of the whole process for each call of `GET /v1/whoami`, over one connection: with the same
operator's key while the store has one key and while it has `--users` users with a role and as many keys; a tenant's key; a key that is
unknown beside a call without a key. Calls come slower than the rate limits, so that each is answered for what it is.
"""

import concurrent.futures
import http.client
import itertools
import json
import pathlib
import subprocess
import sys
import time

from bench import RELEASE, Bench, Place, arguments, children, cpu_ns, median
from idle import KEY, Master


addresses = itertools.count(2)  # Strangers come from many: each address may ask so often only.


def ask(connection, key, method, path, body):
    while True:
        connection.request(method, path, json.dumps(body), {"Authorization": "Bearer " + key, "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status == 429:
            time.sleep(float(answer.headers.get("Retry-After", "1")))
            continue
        if answer.status not in (200, 201):
            sys.exit(f"{method} {path}: {answer.status} {text}")
        return json.loads(text)


def fill(master, users, tenants):
    """Tenants, users with a role in theirs, and a key for each. Gives a key of a tenant."""
    lanes = 32  # Each with a key, as a key has a rate.

    def some(lane):
        connection = http.client.HTTPConnection("127.0.0.1", master.api, timeout=60)
        key = ask(connection, KEY, "POST", "/v1/api-keys", {"name": f"lane-{lane}", "isOperator": True})["secret"]
        for number in range(lane, tenants, lanes):
            ask(connection, key, "POST", "/v1/tenants", {"name": f"tenant-{number}"})
        for number in range(lane, users, lanes):
            tenant, login = f"tenant-{number % tenants}", f"user-{number}@example.com"
            ask(connection, key, "POST", "/v1/users", {"login": login, "name": login, "email": login, "tenantID": tenant})
            ask(connection, key, "POST", "/v1/grants", {"subject": "user/" + login, "role": "member", "tenantID": tenant})
            made = ask(connection, key, "POST", "/v1/api-keys", {"name": f"key-{number}", "tenantID": tenant})["secret"]
        return made

    with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
        return list(pool.map(some, range(lanes)))[0]


def cost_us(master, calls, key, expected):
    """CPU of the master for a call, in microseconds."""
    address = f"127.0.{next(addresses)}.1"
    connection = http.client.HTTPConnection("127.0.0.1", master.api, timeout=30, source_address=(address, 0))
    headers = {"Authorization": "Bearer " + key} if key else {}
    before = cpu_ns(children(master.process.pid))
    for _ in range(calls):
        connection.request("GET", "/v1/whoami", headers=headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != expected:
            sys.exit(f"whoami: {answer.status} {text}")
        time.sleep(0.006)  # Slower than the rate of a key.
    return (cpu_ns(children(master.process.pid)) - before) / 1000 / calls


def rounds(*sides, count=5):
    """The median of each side, measured in turn so that a busy machine hits all of them."""
    took = [[] for _ in sides]
    for _ in range(count):
        for side, values in zip(sides, took):
            values.append(side())
    return [median(values) for values in took]


def main():
    options = arguments("Cost of roles.", users=(10_000, "users, and keys"), tenants=(1_000, "tenants"), calls=(150, "calls a round"),
                        build=(str(RELEASE), "folder of the executables"))
    bench = Bench("tenancy")
    programs = pathlib.Path(options.build).absolute()
    decision = subprocess.run([programs / "bench-decision", str(options.users), str(options.tenants)], capture_output=True, text=True, check=True)
    bench.row("tenancy-decision", "ns", float(decision.stdout), gate="<= 200", goal="<= 50")
    with Place() as place:
        alone, full = Master(place, programs, "alone"), Master(place, programs, "full")
        begun = time.monotonic()
        tenant_key = fill(full, options.users, options.tenants)
        bench.row("tenancy-fill", "s", time.monotonic() - begun)
        time.sleep(2)
        few, many, of_tenant = rounds(
            lambda: cost_us(alone, options.calls, KEY, 200),
            lambda: cost_us(full, options.calls, KEY, 200),
            lambda: cost_us(full, options.calls, tenant_key, 200))
        bench.row("tenancy-whoami", "us", many, "one-key", few, ratio=many / few, gate="<= 1.1")
        bench.row("tenancy-whoami-tenant", "us", of_tenant, "one-key", few, ratio=of_tenant / few, gate="<= 1.1")
        none, unknown = rounds(
            lambda: cost_us(full, options.calls, None, 401),
            lambda: cost_us(full, options.calls, "hk_" + "x" * 43, 401))
        bench.row("tenancy-unknown-key", "us", unknown, "no-key", none, ratio=unknown / none, gate="<= 1.3")
        bench.row("tenancy-memory", "MiB", full.rss() / 2**20, "one-key", alone.rss() / 2**20)
    bench.report(options.json)


if __name__ == "__main__":
    main()
