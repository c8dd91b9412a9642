"""What a cloud holds, at one moment and over time: of the soak (soak.py)."""

import http.client
import json
import os
import pathlib
import re
import subprocess
import time

from bench import median
from start import Engine


def engine(data, target):
    """None while it does not answer: it is killed, too."""
    try:
        connection = Engine(str(data / "engine" / "podman.sock"))
        connection.request("GET", target)
        answer = connection.getresponse()
        return json.loads(answer.read()) if answer.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None


def read(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def command_lines(folder):
    """Of all processes that name `folder`, by pid."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        words = read(f"/proc/{pid}/cmdline").split("\0")
        if any(str(folder) in word for word in words) and int(pid) != os.getpid():
            found[int(pid)] = words
    return found


def roles(data):
    """The pid of each role by its name: master, master-2, access-nj, gateway, host-NAME."""
    found = {}
    for pid, words in command_lines(data).items():
        if not os.path.basename(words[0]).startswith("hostler") or "--data" not in words[1:-1] or "up" in words[1:2]:
            continue
        folder = pathlib.Path(words[words.index("--data") + 1])
        found["host-" + folder.name if folder.parent.name == "hosts" else folder.name] = pid
    return found


def bridge_name(network):
    """As src/adapters/docker/bodies.cpp makes it of a network's id."""
    hash_ = 14695981039346656037
    for byte in network.encode():
        hash_ = (hash_ ^ byte) * 1099511628211 % 2**64
    return "hst" + "".join("abcdefghijkmnpqrstuvwxyz23456789"[hash_ >> 5 * i & 31] for i in range(12))


def bytes_below(folder, pattern):
    return sum(path.lstat().st_size for path in folder.glob(pattern) if path.is_file())


class Watch:
    """Looks at everything again and again; knows what stood out of place at the end."""

    def __init__(self, place, postgres):
        self.folder, self.data, self.postgres = place.folder, place.folder / "data", postgres
        self.lives = {}  # (role, pid) → [(uptime in s, KiB of memory, descriptors)]
        self.bridges, self.spaces = set(), set()  # All that were ever seen.
        self.moments = []  # (time, what there was)

    def processes(self):
        tick = os.sysconf("SC_CLK_TCK")
        now = float(read("/proc/uptime").split()[0])
        for role, pid in roles(self.data).items():
            try:
                begun = int(read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[19]) / tick
                memory = int(re.search(r"VmRSS:\s+(\d+)", read(f"/proc/{pid}/status"))[1])
                open_ones = len(os.listdir(f"/proc/{pid}/fd"))
            except (IndexError, TypeError, OSError):
                continue  # It has just been killed.
            self.lives.setdefault((role, pid), []).append((now - begun, memory, open_ones))

    def machine(self):
        """What is on the machine because of this cloud; None where nobody answers."""
        containers = engine(self.data, "/containers/json?all=true")
        networks = engine(self.data, "/networks")
        if containers is None or networks is None:
            return None
        for one in containers:
            more = engine(self.data, f"/containers/{one['Id']}/json") or {}
            self.spaces.add(more.get("NetworkSettings", {}).get("SandboxKey") or "")
        links = os.listdir("/sys/class/net")
        self.bridges |= {bridge for bridge in (bridge_name(one["Name"]) for one in networks) if bridge in links}
        walls = subprocess.run(["nft", "list", "set", "inet", "hostler", "bridges"], capture_output=True, text=True).stdout
        programs = [os.path.basename(words[0]) for words in command_lines(self.data).values()]
        return {
            "containers": len(containers),
            "networks": len(networks),
            "bridges": len(self.bridges & set(links)),
            "bridges behind the wall": sum(f'"{bridge}"' in walls for bridge in self.bridges),
            "network namespaces": len(self.namespaces()),
            "mounts": len(self.mounts()),
            "loop devices": len(self.loops()),
            "volume images": len([path for path in self.data.glob("hosts/*/volumes/**/*") if path.is_file()]),
            "processes conmon": sum(name == "conmon" for name in programs),
            "processes hostler": sum(name.startswith("hostler") for name in programs),
            "processes others": sum(name != "conmon" and not name.startswith("hostler") for name in programs),
        }

    def namespaces(self):
        return [space for space in self.spaces if space and os.path.exists(space)]

    def mounts(self):
        return [line.split()[1] for line in read("/proc/self/mounts").splitlines() if line.split()[1].startswith(str(self.folder))]

    def loops(self):
        return [path for path in pathlib.Path("/sys/block").glob("loop*/loop/backing_file") if str(self.folder) in read(path)]

    def store(self):
        """Rows of each table; what lives, by kind and phase."""
        tables = "meta objects commands events ledger audit lease".split()
        words = " UNION ALL ".join(f"SELECT 'rows of {table}', count(*) FROM {table}" for table in tables)
        live = "SELECT 'live ' || kind || ' ' || phase, count(*) FROM {} WHERE state = 0 GROUP BY kind, phase"
        text = f"{words} UNION ALL {live.format('objects')} UNION ALL {live.format('commands')}"
        rows = self.postgres.ask(text)
        return {line.rsplit("|", 1)[0]: int(line.rsplit("|", 1)[1]) for line in rows.splitlines()} if rows else None

    def disk(self):
        return {
            "bytes of journals of hosts": bytes_below(self.data, "hosts/*/journal*") + bytes_below(self.data, "hosts/*/journal*/**/*"),
            "bytes of journals of access points": bytes_below(self.data, "access-*/journal*"),
            "bytes of journals of gateways": bytes_below(self.data, "gateway/journal*"),
            "bytes of ended instances' logs": bytes_below(self.data, "hosts/*/logs/**/*"),
        }

    def look(self):
        """Everything; None when the store or the engine is away."""
        machine, store = self.machine(), self.store()
        return None if machine is None or store is None else {**machine, **store, **self.disk()}

    def note(self, ended):
        self.processes()
        if seen := self.look():
            self.moments.append((time.monotonic(), ended, seen))


def slope(points):
    """Least squares; 0 of fewer than three."""
    if len(points) < 3:
        return 0.0
    x, y = [p[0] for p in points], [p[1] for p in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in points) / spread if spread else 0.0


def growth(lives, kind, warm_s, life_s):
    """Of the lives of a kind of role that lasted: KiB and descriptors a minute, the median and the worst; the longest, in s."""
    memory, files, longest = [], [], 0
    for (role, _), samples in lives.items():
        if not role.startswith(kind):
            continue
        longest = max(longest, samples[-1][0])
        kept = [sample for sample in samples if sample[0] >= warm_s]
        if len(kept) >= 3 and kept[-1][0] - kept[0][0] >= life_s:
            memory.append(slope([(s[0], s[1]) for s in kept]) * 60)
            files.append(slope([(s[0], s[2]) for s in kept]) * 60)
    if not memory:
        return None
    return {"lives": len(memory), "longest": longest, "memory": median(memory), "memory_max": max(memory), "files": median(files),
            "files_max": max(files)}
