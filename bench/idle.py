"""What a master costs that has nothing to do, while its store has many instances that ended.

A single master on SQLite. Measured with an empty store and with `--ended` ended instances: CPU while nobody asks anything, CPU of
a dry run, memory, and the time from SIGKILL to the next acknowledged write, the start of the process included.
"""

import http.client
import json
import pathlib
import signal
import statistics
import sys
import time

from bench import RELEASE, Bench, Place, arguments, children, cpu_ns, free_port, until
from seeds import into_sqlite

KEY = "hk_idle-of-a-cloud-that-is-measured"
HEADERS = {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}


class Master:
    def __init__(self, place, programs, name):
        self.place, self.name, self.folder = place, name, place.folder / name
        self.folder.mkdir()
        place.file(f"{name}/operator.key", KEY)
        self.api = free_port()
        self.words = [programs / "hostler", "master", "--data", self.folder, "--api", f"127.0.0.1:{self.api}", "--wire", "127.0.0.1:0",
                      "--templates", ""]
        self.start()

    def start(self):
        self.process = self.place.start(self.words, f"{self.name}-{time.monotonic_ns()}")
        until(self.serves, self.name, 120)

    def serves(self):
        try:
            return self.ask("GET", "/v1/zones?limit=1")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.api, timeout=30)
        connection.request(method, path, json.dumps(body) if body is not None else None, HEADERS)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def rss(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) * 1024

    def idle_cpu(self, seconds):
        before, begun = cpu_ns(children(self.process.pid)), time.monotonic()
        time.sleep(seconds)
        return (cpu_ns(children(self.process.pid)) - before) / 1e9 / (time.monotonic() - begun)

    def dry_run_ms(self, rounds):
        connection = http.client.HTTPConnection("127.0.0.1", self.api, timeout=30)
        took = []
        for turn in range(rounds):
            begun = time.monotonic()
            connection.request("POST", "/v1/zones?dryRun=true", json.dumps({"name": f"dry-{turn}"}), HEADERS)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status >= 300:
                sys.exit(f"a dry run: {answer.status} {text}")
            took.append((time.monotonic() - begun) * 1000)
        return statistics.median(took)

    def kill_to_write(self, turn):
        begun = time.monotonic()
        self.process.kill()
        self.process.wait()
        self.process = self.place.start(self.words, f"{self.name}-{time.monotonic_ns()}")
        while time.monotonic() - begun < 120:
            try:
                if self.ask("POST", "/v1/zones", {"name": f"after-{turn}"})[0] == 201:
                    return time.monotonic() - begun
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.005)
        sys.exit("no write is acknowledged within 120 s")


def main():
    options = arguments("Cost of a master without work.", ended=(100_000, "ended instances in the store"), seconds=(30.0, "of idling"),
                        kills=(10, "rounds of SIGKILL"), dry_runs=(200, "dry runs"), build=(str(RELEASE), "folder of the executables"))
    bench = Bench("idle")
    programs = pathlib.Path(options.build).absolute()
    with Place() as place:
        empty = Master(place, programs, "empty")
        time.sleep(5)
        empty_cpu, empty_dry, empty_rss = empty.idle_cpu(options.seconds), empty.dry_run_ms(options.dry_runs), empty.rss()
        empty.stop()
        full = Master(place, programs, "full")
        full.stop()
        into_sqlite(full.folder / "store.db", options.ended, 0)
        full.start()
        time.sleep(5)
        bench.row("idle-cpu-without-ended", "% of a core", empty_cpu * 100)
        bench.row("idle-cpu", "% of a core", full.idle_cpu(options.seconds) * 100, gate="<= 1", goal="<= 0.3")
        bench.row("idle-dry-run-without-ended", "ms", empty_dry)
        bench.row("idle-dry-run", "ms", full.dry_run_ms(options.dry_runs), gate="<= 5", goal="<= 0.5")
        bench.row("idle-memory-ended", "B", max(0, full.rss() - empty_rss) / options.ended, gate="<= 1024", goal="<= 100")
        took = [full.kill_to_write(turn) for turn in range(options.kills)]
        bench.row("idle-kill-to-write-max", "s", max(took), gate="<= 1", goal="<= 0.3")
    bench.report(options.json)


if __name__ == "__main__":
    main()
