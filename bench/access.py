"""kubectl and Helm, unmodified, through gateway and access points to a real cluster, for a quarter of an hour.

A cluster of 1 + 1 on machines of namespaces (`bench-cluster --stay`). All the while: a watch, `logs -f`, an `exec` that prints,
a forwarded port, `get` and `patch` every second, and a release of Helm that is installed, upgraded and removed. At a third of the time
one access point is killed with SIGKILL, at two thirds the other one; what ends is begun again, as a person would.

lost:       lines, requests and commands that did not come through, without the 30 s after a kill.
breaks:     streams that ended by themselves, without those 30 s.
pause:      s from a kill until the last kind of access works again.
disabled:   s from the disabling of an account until the last of its open streams has ended.
growth:     MiB that the gateway and the access points have more in the end than after a minute.
"""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

from bench import RELEASE, Bench, arguments, until

SHADOW_S = 30  # After a kill.
OBJECTS = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: hello}}
spec:
  selector: {{matchLabels: {{app: hello}}}}
  template:
    metadata: {{labels: {{app: hello}}}}
    spec:
      containers: [{{name: hello, image: {image}, imagePullPolicy: Never}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: tick}}
data: {{n: "0"}}
"""


class Person:
    """Who has a key of the cloud, and a kubeconfig for the cluster."""

    def __init__(self, told, name, key=None):
        self.told, self.folder = told, pathlib.Path(told["folder"]) / name
        self.folder.mkdir()
        self.config = self.folder / "kubeconfig"
        self.environment = {**os.environ, **told["environment"], "HOME": str(self.folder)}
        if key:
            self.environment["HOSTLER_KEY"] = key
        self.hostler("cluster", "kubeconfig", "train", "--out", str(self.config))

    def hostler(self, *words):
        words = [self.told["hostler"], *words, "--tenant-id", "acme"]
        return subprocess.run(words, env=self.environment, stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout

    def run(self, program, *words, **more):
        words = [self.told[program], "--kubeconfig", str(self.config), *words]
        return subprocess.run(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **more)

    def kubectl(self, *words, **more):
        ran = self.run("kubectl", *words, **more)
        if ran.returncode != 0:
            raise OSError(ran.stderr)
        return ran.stdout


class Stream:
    """A kubectl that runs on, and the lines that it has printed."""

    def __init__(self, person, *words):
        self.lines = []
        self.process = subprocess.Popen(
            [person.told["kubectl"], "--kubeconfig", str(person.config), *words],
            env=person.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.strip())

    def runs(self):
        return self.process.poll() is None

    def says(self, what, within=60):
        until(lambda: any(what in line for line in self.lines) or not self.runs(), f"'{what}' of {self.process.args}: {self.lines}", within)

    def port(self):
        """Of this machine, once it forwards."""
        self.says("Forwarding from 127.0.0.1")
        found = [line for line in self.lines if "Forwarding from 127.0.0.1:" in line]
        if not found:
            raise OSError(str(self.lines))
        return int(found[0].split("127.0.0.1:")[1].split()[0])

    def end(self):
        self.process.kill()
        self.process.wait()


class Account:
    """What was asked and what came, with the moments at which an access point was killed."""

    def __init__(self):
        self.lock, self.kills, self.worked = threading.Lock(), [], {}
        self.asked, self.lost, self.breaks, self.notes = {}, {}, 0, []

    def shadowed(self, since):
        """Whether a kill was in the time from then until now, or up to 30 s before it."""
        return any(since - SHADOW_S <= kill for kill in self.kills)

    def note(self, kind, good, at, why=""):
        with self.lock:
            self.asked[kind] = self.asked.get(kind, 0) + 1
            if good:
                self.worked.setdefault(kind, []).append(time.monotonic())
            elif not self.shadowed(at):
                self.lost[kind] = self.lost.get(kind, 0) + 1
                self.notes.append(f"{kind}: {why}")

    def ended(self, stream):
        with self.lock:
            if not self.shadowed(time.monotonic()):
                self.breaks += 1
                self.notes.append(f"{stream.process.args[3:]} ended: {stream.lines[-3:]}")

    def pause(self, kill):
        """Until each kind has worked again."""
        return max(min((moment - kill for moment in moments if moment > kill), default=float("inf")) for moments in self.worked.values())


def ask(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", path)
        if not connection.getresponse().read().startswith(b"hello-"):
            raise OSError("another answer")


class Load:
    """Each kind of access in a thread, until the time is over."""

    def __init__(self, person, account, ends):
        self.person, self.account, self.ends, self.failed = person, account, ends, []
        self.threads = [threading.Thread(target=self.guarded, args=[kind]) for kind in (self.forwarded, self.executed, self.watched, self.asked, self.installed)]
        for thread in self.threads:
            thread.start()

    def guarded(self, kind):
        try:
            while time.monotonic() < self.ends:
                try:
                    kind()
                except (OSError, SystemExit, http.client.HTTPException, subprocess.TimeoutExpired) as error:
                    self.account.note(kind.__name__, False, time.monotonic(), str(error))
                    time.sleep(1)
        except Exception as error:  # A fault of this program: the figures are void.
            self.failed.append(f"{kind.__name__}: {error!r}")

    def lines_of(self, kind, stream, port, forward):
        """Requests, each of which must appear as a line of the stream."""
        while stream.runs() and forward.runs() and time.monotonic() < self.ends:
            at = time.monotonic()
            path = f"/{kind}{at}"
            try:
                ask(port, path)
                self.account.note(f"{kind} requests", True, at)
            except (OSError, http.client.HTTPException) as error:
                self.account.note(f"{kind} requests", False, at, str(error))
            else:
                came = self.wait(lambda: path in stream.lines or not stream.runs()) and path in stream.lines
                self.account.note(f"{kind} lines", came, at, f"{path} is not there")
            time.sleep(0.5)
        for one in (stream, forward):
            if not one.runs():
                self.account.ended(one)
            one.end()

    @staticmethod
    def wait(so, within=10):
        end = time.monotonic() + within
        while not so():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def forwarded(self):
        forward = Stream(self.person, "port-forward", "deployment/hello", ":8080")
        logs = Stream(self.person, "logs", "--follow", "--tail=1", "deployment/hello")
        self.lines_of("forward", logs, forward.port(), forward)

    def executed(self):
        port = 10000 + int(time.monotonic()) % 20000  # The program of a broken one keeps its port.
        inside = Stream(self.person, "exec", "deployment/hello", "--", "/usr/local/bin/hello", f":{port}")
        inside.says("listens on")
        forward = Stream(self.person, "port-forward", "deployment/hello", f":{port}")
        self.lines_of("exec", inside, forward.port(), forward)

    def watched(self):
        watch = Stream(self.person, "get", "configmap", "tick", "--watch", "-o", 'jsonpath={.data.n}{"\\n"}')
        while watch.runs() and time.monotonic() < self.ends:
            at = time.monotonic()
            tick = str(int(at * 1000))
            try:
                self.person.kubectl("patch", "configmap", "tick", "--patch", json.dumps({"data": {"n": tick}}))
                self.account.note("patch", True, at)
            except OSError as error:
                self.account.note("patch", False, at, str(error))
            else:
                came = self.wait(lambda: tick in watch.lines or not watch.runs()) and tick in watch.lines
                self.account.note("watch lines", came, at, tick)
            time.sleep(1)
        if not watch.runs():
            self.account.ended(watch)
        watch.end()

    def asked(self):
        at = time.monotonic()
        self.person.kubectl("get", "pods", "--all-namespaces")
        self.account.note("get", True, at)
        time.sleep(1)

    def installed(self):
        chart = self.person.folder / "chart"
        (chart / "templates").mkdir(parents=True, exist_ok=True)
        (chart / "Chart.yaml").write_text("{apiVersion: v2, name: words, version: 1.0.0}\n")
        (chart / "templates/words.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: words}, data: {word: {{ .Values.word }}}}\n")
        for step in (["upgrade", "--install", "words", str(chart), "--set", "word=first"], ["upgrade", "words", str(chart), "--set", "word=second"],
                     ["uninstall", "words"]):
            at = time.monotonic()
            ran = self.person.run("helm", *step)
            self.account.note("helm", ran.returncode == 0, at, ran.stderr)
            time.sleep(5)


def processes(told, role):
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = entry.read_text().split("\0")
            if words[0].endswith("/hostler") and words[1] == role and any(told["data"] in word for word in words):
                yield int(entry.parent.name), words


def memory_mib(told):
    total = 0
    for role in ("gateway", "access"):
        for pid, _ in processes(told, role):
            total += int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) / 256
    return total


def kill_access(told, zone):
    for pid, words in processes(told, "access"):
        if any(f"access-{zone}" in word for word in words):
            os.kill(pid, signal.SIGKILL)


def disabled_s(told, owner):
    for words in (["role", "create", "works", "--permission", "cluster.read", "--permission", "instance.enter"], ["account", "create", "works"],
                  ["grant", "create", "account/works", "--role", "works", "--project", "default"]):
        owner.hostler(*words)
    key = json.loads(owner.hostler("account", "create-key", "works", "bench", "-o", "json"))["secret"]
    person = Person(told, "works", key)
    streams = [Stream(person, *words) for words in (
        ["get", "pods", "--watch"], ["logs", "--follow", "deployment/hello"], ["port-forward", "deployment/hello", ":8080"],
        ["exec", "deployment/hello", "--", "/usr/local/bin/hello", ":9999"])]
    for stream, word in zip(streams, ("hello-", "listens on", "Forwarding from", "listens on")):
        stream.says(word)
    begun = time.monotonic()
    owner.hostler("account", "disable", "works", "--yes")
    until(lambda: not any(stream.runs() for stream in streams), "streams of a disabled account", 60)
    took = time.monotonic() - begun
    if person.run("kubectl", "get", "pods").returncode == 0:
        sys.exit("a disabled account gets an answer")
    return took


def measure(told, minutes, bench):
    owner, account = Person(told, "owner"), Account()
    owner.kubectl("apply", "-f", "-", input=OBJECTS.format(image=told["image"]))
    owner.kubectl("rollout", "status", "deployment/hello", "--timeout=100s")
    begun = time.monotonic()
    load = Load(owner, account, begun + minutes * 60)
    at_first = None
    for part, zone in ((1 / 3, "nj"), (2 / 3, "lon")):
        while (left := begun + minutes * 60 * part - time.monotonic()) > 0:
            time.sleep(min(left, 1))
            if at_first is None and time.monotonic() - begun > 60:
                at_first = memory_mib(told)
        account.kills.append(time.monotonic())
        kill_access(told, zone)
    for thread in load.threads:
        thread.join()
    in_the_end = memory_mib(told)
    if load.failed:
        sys.exit("\n".join(load.failed))
    for kind, number in sorted(account.asked.items()):
        bench.row(kind, "", number)
        bench.row(f"{kind}, lost", "", account.lost.get(kind, 0), gate="<= 0")
    bench.row("breaks", "streams", account.breaks, gate="<= 0")
    for number, kill in enumerate(account.kills, 1):
        bench.row(f"pause after kill {number}", "s", account.pause(kill))
    bench.row("disabled", "s", disabled_s(told, owner), gate="<= 5")
    bench.row("growth", "MiB", in_the_end - (at_first or in_the_end))
    if account.notes:
        print("\n".join(account.notes[:20]), owner.kubectl("get", "events", "--all-namespaces", "--field-selector=type=Warning"), sep="\n", file=sys.stderr)


def main():
    options = arguments(__doc__, minutes=(15.0, "of use"), build=(str(RELEASE), "folder of the executables"))
    bench = Bench("access")
    command = [str(pathlib.Path(options.build) / "bench-cluster"), "--stay"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cloud:
        try:
            line = cloud.stdout.readline()
            if not line:
                sys.exit(cloud.wait())
            told = {**json.loads(line), "hostler": str(pathlib.Path(options.build).absolute() / "hostler")}
            measure(told, options.minutes, bench)
        finally:
            cloud.stdin.close()
    bench.report(options.json)


if __name__ == "__main__":
    main()
