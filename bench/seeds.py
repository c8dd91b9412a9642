"""Objects for a store: what a cloud has after days, without the days.

Ended instances are as their master archives them, each with the name that it used. Live ones rest: their owner stopped them, and
they hold nothing on any host.
"""

import json
import sqlite3
import time


# Members that are left out are as those of a new instance.
INSTANCE = {
    "tenant": "seed", "tenantName": "Seed", "specName": "h100-1", "requestDigest": "0" * 64, "message": "it was asked to stop",
    "zone": "nj", "createdAt": 1, "startedAt": 2, "readyAt": 3,
    "spec": {"image": "registry.example/team/trainer:2026.11", "command": ["python3", "train.py", "--epochs", "10"],
             "environment": [{"name": "RUN", "value": "nightly"}, {"name": "SHARDS", "value": "16"}],
             "ports": [{"port": 8080, "protocol": "TCP", "isPublic": False, "isProbe": True}], "volumes": []},
}


def bodies(ended, live):
    """Rows: kind, id, tenant, phase, state, body."""
    now = int(time.time() * 1e6)
    body = dict(INSTANCE, endedAt=now)
    for number in range(ended):
        one = dict(body, id=f"i-ended{number}", callerID=f"ended-{number}", phase="stopped", reason="stopped")
        yield "instance", one["id"], "seed", "stopped", 1, json.dumps(one, separators=(",", ":"))
        name = f"seed/ended-{number}"
        yield "used_name", name, "", "", 1, json.dumps({"id": name, "instance": one["id"]}, separators=(",", ":"))
    for number in range(live):
        one = dict(body, id=f"i-rests{number}", callerID=f"rests-{number}", phase="resting", reason="stopped_by_owner")
        yield "instance", one["id"], "seed", "resting", 0, json.dumps(one, separators=(",", ":"))


def into_sqlite(path, ended, live):
    store = sqlite3.connect(path)
    (number,) = store.execute("SELECT value FROM meta WHERE name = 'number'").fetchone()
    rows = ((kind, name, tenant, tenant, phase, 1, number, number, state, body.encode())
            for kind, name, tenant, phase, state, body in bodies(ended, live))
    store.executemany("INSERT INTO objects (kind, id, tenant, project, phase, generation, created, version, state, body)"
                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    store.commit()
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()


def for_postgres(number, ended, live):
    """Lines for COPY objects (kind, id, tenant, project, phase, generation, created, version, state, body) FROM STDIN."""
    for kind, name, tenant, phase, state, body in bodies(ended, live):
        yield "\t".join((kind, name, tenant, tenant, phase, "1", str(number), str(number), str(state), "\\\\x" + body.encode().hex())) + "\n"
