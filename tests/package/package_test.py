#!/usr/bin/env python3
"""The packages on machines of their own: package_test.py BUILD_FOLDER [--filter NAME]"""
import argparse
import base64
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import traceback

import machines
from machines import Machine, Root, run, same, until

TREE = pathlib.Path(__file__).resolve().parents[2]
BRIDGE = "hostler-br"
NAMES = {"bridge": "10.99.0.1", "core": "10.99.0.10", "nj": "10.99.0.20", "lon": "10.99.0.30",
         "nj-1": "10.99.0.21", "nj-2": "10.99.0.22", "lon-1": "10.99.0.31", "lon-2": "10.99.0.32"}
HOSTS = ("nj-1", "nj-2", "lon-1", "lon-2")
ROLES = ("master", "access", "gateway")


class WebSocket:
    """As little of one as it takes to hear an echo."""

    def __init__(self, url, authority):
        host, port = url.removeprefix("https://").split(":")
        plain = socket.create_connection((host, int(port)), timeout=10)
        self.stream = ssl.create_default_context(cafile=authority).wrap_socket(plain, server_hostname=host)
        self.stream.sendall(f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n"
                            "\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.read(1)
        assert b" 101 " in head.split(b"\r\n")[0], head

    def read(self, size):
        got = b""
        while len(got) < size:
            more = self.stream.recv(size - len(got))
            if not more:
                raise AssertionError("the WebSocket has ended")
            got += more
        return got

    def echo(self, text):
        mask, data = os.urandom(4), text.encode()
        self.stream.sendall(bytes([0x81, 0x80 | len(data)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))
        while True:
            kind, size = self.read(2)
            body = self.read(size)
            if kind & 0x0F == 1:
                assert body == data, body
                return
            assert kind & 0x0F in (0x9, 0xA), f"frame {kind:#x} {body!r}"


class Cloud:
    """Seven machines; the tests go on where the one before them ended, as an operator does."""

    def __init__(self, build):
        self.build = build
        self.work = machines.work_folder()
        self.groups = self.work.name
        self.machines = {}
        self.env = {}
        self.url = ""
        self.web_socket = None
        self.started = {}

    # ── Before the machines boot: with the network of this one.

    def make_packages(self):
        environment = {**os.environ, "HOSTLER_PACKAGE_COMPRESSION": "gzip"}
        for version in ("0.1.0~first", "0.1.0~second"):
            run(TREE / "deploy/build", self.build, version, self.work / "packages", env=environment)

    def make_roots(self):
        base = Root.debian(self.work / "base", ["systemd", "systemd-sysv", "dbus", "iproute2", "ca-certificates"])
        install = "apt-get update -q; apt-get install -y -q --no-install-recommends"
        packages = self.work / "packages"
        for package in ("hostler", "hostler-agent"):
            root = base.copy(self.work / f"root-{package}")
            for file in packages.glob(f"{package}_*"):
                shutil.copy(file, root.folder / "root")
            root.shell(f"{install} /root/{package}_0.1.0~first_*.deb")

    def make_machines(self):
        simulated = self.simulated_hosts()
        for name, address in NAMES.items():
            if name == "bridge":
                continue
            kind = "hostler-agent" if name in HOSTS else "hostler"
            root = Root(self.work / f"root-{kind}").layer(self.work / f"machine-{name}")
            if name in HOSTS:
                shutil.copytree(simulated / name, root.folder / "opt/simulated", symlinks=True)
                # A machine of systemd-nspawn has no other devices.
                cdi = root.folder / "opt/simulated/cdi/simulated.json"
                cdi.write_text(re.sub(r'"hostPath":"[^"]*"', '"hostPath":"/dev/null"', cdi.read_text()))
                shutil.copy(self.build / "simulated/libnvidia-ml.so.1", root.folder / "opt/simulated")
                shutil.copy(self.build / "hostler-demo", root.folder / "root/demo")
            self.machines[name] = Machine(name, root, address, NAMES, BRIDGE, self.groups)

    def simulated_hosts(self):
        """The files of GPUs that do not exist, as `hostler up` makes them."""
        data, ready = self.work / "simulated", self.work / "simulated-ready"
        up = subprocess.Popen([self.build / "hostler", "up", "--engine", "sim", "--data", data, "--listen", "127.0.0.1:0",
                               "--simulate", "hosts=4,gpus=2,cpus=8,memory=16Gi", "--ready-file", ready],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until("hostler up is ready", ready.exists, within=60)
        finally:
            up.terminate()
            up.wait(timeout=30)
        for name in HOSTS:
            (data / "hosts" / name / "journal").unlink()
        return data / "hosts"

    def begin(self):
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{NAMES['bridge']}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        self.make_machines()
        for machine in self.machines.values():
            machine.boot()
        for machine in self.machines.values():
            machine.wait()

    def end(self):
        for machine in self.machines.values():
            if machine.process:
                machine.process.terminate()
        for machine in self.machines.values():
            machine.stop()
        machines.end_groups(self.groups)
        if not os.environ.get("HOSTLER_KEEP"):
            for machine in self.machines.values():
                run("umount", "-R", machine.root)
            shutil.rmtree(self.work)

    # ── What an operator types

    def __getitem__(self, name):
        return self.machines[name]

    def hostler(self, *words, check=True, ca="/var/lib/hostler/master/authority.pem"):
        return self["core"].run("env", "HOSTLER_API=https://core:7480", f"HOSTLER_CA={ca}", f"HOSTLER_KEY={self.key}", "hostler",
                                *words, check=check)

    def ask(self, *words):
        return json.JSONDecoder().raw_decode(self.hostler(*words, "-o", "json"))[0]  # A remark may follow.

    def options(self, machine, role, options):
        conf = self[machine].root / f"etc/hostler/{role}.conf"
        lines = [line for line in conf.read_text().splitlines() if not line.startswith(f"HOSTLER_{role.upper()}_OPTIONS")]
        conf.write_text("\n".join([*lines, f'HOSTLER_{role.upper()}_OPTIONS="{options}"', ""]))

    def enable(self, machine, role):
        unit = f"hostler-{role}"
        self[machine].run("systemctl", "enable", "--now", unit)
        try:
            until(f"{unit} is active", lambda: self[machine].is_active(unit), within=20)
        except AssertionError as wrong:
            raise AssertionError(f"{wrong}\n{self[machine].journal(unit)}") from None

    def issue(self, identity, out, names=""):
        """A certificate of the authority on core."""
        self["core"].shell(f"runuser -u hostler -- hostler ca issue {identity} {names} --master-data /var/lib/hostler/master "
                           f"--out {out}")

    def issue_to(self, machine, role, name):
        """One that is carried to its machine."""
        issued = f"/var/lib/hostler/issued/{name}"
        self.issue(f"{role}/{name}", issued)
        at = self[machine].root / f"var/lib/hostler/{role}"
        shutil.copytree(self["core"].root / issued[1:], at, dirs_exist_ok=True)
        self[machine].shell(f"chown -R hostler:hostler /var/lib/hostler/{role}")

    @property
    def authority(self):
        """What clients believe, of API and gateway."""
        return self["core"].root / "var/lib/hostler/master/authority.pem"

    def fetch(self, url, check=True):
        return run("curl", "-sS", "--max-time", "5", "--cacert", self.authority, "-w", "\n%{http_code}", url, check=check)

    def page(self, path="/"):
        return self.fetch(self.url + path)


def command_lines(machine):
    return machine.shell("cat /proc/[0-9]*/cmdline 2>/dev/null || true")


# ── The tests, in this order

def installing_starts_nothing_and_makes_the_user(cloud):
    core, host = cloud["core"], cloud["nj-1"]
    for machine, units in ((core, ROLES), (host, ("agent",))):
        for role in units:
            state = machine.run("systemctl", "is-enabled", f"hostler-{role}", check=False).strip()
            assert state == "disabled", f"{role}: {state}"
            assert not machine.is_active(f"hostler-{role}")
    same(core.run("id", "-un", "hostler").strip(), "hostler")
    same(core.shell("stat -c '%U %a' /var/lib/hostler").strip(), "hostler 750")
    same(core.shell("stat -c %a /etc/hostler/master.conf").strip(), "640")
    same(host.shell("stat -c %a /etc/hostler/agent.conf").strip(), "600")
    assert "0.1.0" in core.run("hostler", "--version") and "0.1.0" in host.run("hostler-agent", "--version")
    hook = json.loads(host.shell("cat /usr/share/containers/oci/hooks.d/hostler-devices.json"))["hook"]
    same(host.shell(f"echo '{{}}' | {shlex.join([hook['path'], *hook['args'][1:]])}").strip(), "{}")
    hook = json.loads(host.shell("cat /usr/share/containers/oci/hooks.d/hostler-streams.json"))["hook"]
    assert "not the state of a container" in host.shell(f"echo '{{}}' | {shlex.join([hook['path'], *hook['args'][1:]])} 2>&1")
    assert "nf_tables" in host.shell("/usr/lib/hostler-agent/firewall/iptables --version")


def units_are_right_and_harden(cloud):
    """What systemd itself says of them: no mistake, and how much each is exposed (10 is everything)."""
    for machine, roles, most in ((cloud["core"], ROLES, 2.0), (cloud["nj-1"], ("agent",), 8.5)):
        for role in roles:
            said = machine.run("systemd-analyze", "verify", "--man=no", f"/lib/systemd/system/hostler-{role}.service")
            assert f"hostler-{role}" not in said, said
            exposure = json.loads(machine.run("systemd-analyze", "security", "--offline=yes", "--json=short", "--no-pager",
                                              f"/lib/systemd/system/hostler-{role}.service", check=False) or "[]")
            score = sum(float(row["exposure"] or 0) for row in exposure)
            assert exposure, "systemd-analyze security says nothing"
            text = machine.run("systemd-analyze", "security", "--offline=yes", "--no-pager",
                               f"/lib/systemd/system/hostler-{role}.service", check=False)
            level = float(text.strip().splitlines()[-1].split(":")[1].split()[0])
            print(f"  hostler-{role}: exposure {level} (sum {score:.1f})")
            assert level <= most, text


def an_access_point_without_options_says_so_and_does_not_loop(cloud):
    nj = cloud["nj"]
    nj.run("systemctl", "start", "hostler-access", check=False)
    until("it has failed", lambda: nj.run("systemctl", "is-failed", "hostler-access", check=False).strip() == "failed", 10)
    assert nj.run("systemctl", "show", "-P", "NRestarts", "hostler-access").strip() == "0"
    assert "--zone" in nj.journal("hostler-access")
    nj.run("systemctl", "reset-failed", "hostler-access")


def two_zones_come_up(cloud):
    cloud.key = "hk_" + os.urandom(32).hex()
    cloud["core"].shell("install -d -o hostler -g hostler -m 0700 /var/lib/hostler/master; "
                        f"printf %s {cloud.key} | install -o hostler -g hostler -m 600 /dev/stdin "
                        "/var/lib/hostler/master/operator.key")
    cloud.issue("master/master", "/var/lib/hostler/master", f"--dns core --address {NAMES['core']}")
    cloud.options("core", "master", "--api 0.0.0.0:7480 --wire 0.0.0.0:7444 --advertise core:7444 "
                  "--public-url https://core:7480 --zone nj --host-admission off " + of_role("master"))
    cloud.enable("core", "master")
    until("the API answers", lambda: cloud.ask("zone", "list"))
    clients_verify_the_api(cloud)
    cloud.hostler("zone", "create", "lon", "--location", "London")
    for zone in ("nj", "lon"):
        cloud.issue_to(zone, "access", f"{zone}-1")
        cloud.options(zone, "access", f"--zone {zone} --master core:7444 --uplink-address {zone}:7441 "
                      f"--tunnel-address {zone}:7442 --control-address {zone}:7443")
        cloud.enable(zone, "access")
    a_key_of_another_user_is_named(cloud)
    cloud.issue("gateway/gw-1", "/var/lib/hostler/gateway", f"--address {NAMES['core']}")
    cloud.options("core", "gateway", f"--master core:7444 --listen 0.0.0.0:443 --domain '' "
                  f"--address https://{NAMES['core']}:443 " + of_role("gateway"))
    cloud.enable("core", "gateway")
    until("both access points are there", lambda: len(cloud.ask("access", "list")) == 2)


def of_role(role):
    """What its listener shows: the certificate that it has for other roles."""
    return f"--tls-cert /var/lib/hostler/{role}/certificate.pem --tls-key /var/lib/hostler/{role}/key.pem"


def clients_verify_the_api(cloud):
    address = NAMES["core"]
    assert cloud.fetch(f"https://{address}:7480/healthz").endswith("200")
    said = cloud.hostler("zone", "list", check=False, ca="/etc/ssl/certs/ca-certificates.crt")
    assert "--ca" in said and "NAME" not in said, said
    assert "speaks TLS" in run("curl", "-sS", "--max-time", "5", f"http://{address}:7480/healthz")


def a_key_of_another_user_is_named(cloud):
    """Who carries a role's folder as root and does not hand it over reads what to do."""
    nj = cloud["nj"]
    nj.shell("systemctl stop hostler-access; chown root:root /var/lib/hostler/access/key.pem; systemctl start hostler-access")
    until("the log names the file", lambda: "cannot read /var/lib/hostler/access/key.pem" in nj.journal("hostler-access"), 10)
    nj.shell("chown hostler:hostler /var/lib/hostler/access/key.pem")
    until("it is active", lambda: nj.is_active("hostler-access"), 20)


def four_hosts_join_by_the_printed_command(cloud):
    for name in HOSTS:
        zone = name.split("-")[0]
        made = cloud.ask("host", "token", "create", "--zone", zone)
        words = shlex.split(made["command"], comments=True)
        access, token = words[words.index("--access") + 1], words[words.index("--token") + 1]
        assert access.split(",")[0] == f"{zone}:7441" and "127.0.0.1" not in access, made["command"]
        host = cloud[name]
        conf = host.root / "etc/hostler/agent.conf"
        at = "/opt/simulated"
        # systemd-nspawn hides parts of /sys, so that containers in user namespaces could not mount it.
        conf.write_text(conf.read_text() + f"HOSTLER_SIMULATED_NVML={at}/nvml.state\n"
                        f'HOSTLER_AGENT_OPTIONS="--engine docker:/run/podman/podman.sock --no-user-namespaces --nvml-lib {at}/libnvidia-ml.so.1 '
                        f'--cdi-dir {at}/cdi --proc-root {at}/proc --sysfs-root {at}/sys"\n')
        host.run("hostler-agent-join", "--access", access, "--token", token)
        until("the agent runs", lambda: "hostler-agent\0run" in command_lines(host), 10)
        assert "ht_" not in command_lines(host), "every user of a machine can read command lines"
        host.shell('cd /root; tar c demo | podman import --change \'CMD ["/demo"]\' - localhost/hostler-demo:latest')

    def ready():
        hosts = cloud.ask("host", "list")
        return sorted(h["name"] for h in hosts if h["state"] == "ready") == sorted(HOSTS) and hosts
    try:
        hosts = until("four hosts are ready", ready)
    except AssertionError as wrong:
        raise AssertionError(f"{wrong}\n{cloud.hostler('host', 'list')}") from None
    assert sorted(h["zone"] for h in hosts) == ["lon", "lon", "nj", "nj"], hosts


def an_instance_opens(cloud):
    gpu = cloud.ask("gpu", "list")[0]["model"]
    cloud.hostler("stock", "create", "small", "--number", "1", "--cpu", "1", "--memory", "256Mi", "--gpu-type", gpu,
                  "--gpu-num", "1", "--zone", "nj")
    out = cloud.hostler("instance", "create", "web", "--tenant", "acme", "--spec", "small", "--zone", "nj", "--image",
                        "localhost/hostler-demo:latest", "--port", "8080,public,probe", "--wait", "--timeout", "2m", check=False)
    instance = cloud.ask("instance", "get", "web", "--tenant", "acme")
    hosts = "\n".join(cloud[name].journal("hostler-agent") for name in ("nj-1", "nj-2"))
    assert instance["state"] == "running", f"{out}\n{instance}\n{hosts}"
    cloud.url = instance["urls"][0]["url"].rstrip("/")
    assert cloud.url.startswith(f"https://{NAMES['core']}:"), cloud.url
    until("the instance answers", lambda: cloud.page().endswith("200"))
    cloud.web_socket = WebSocket(cloud.url, cloud.authority)
    cloud.web_socket.echo("before")


def upgrading_keeps_a_web_socket_open(cloud):
    before = {(name, unit): cloud[name].pid_of(unit) for name, unit in running(cloud)}
    for name, machine in cloud.machines.items():
        package = "hostler-agent" if name in HOSTS else "hostler"
        said = machine.shell(f"DEBIAN_FRONTEND=noninteractive apt-get install -y -q /root/{package}_0.1.0~second_*.deb")
        assert "0.1.0~second" in machine.run("dpkg-query", "-W", package)
        for _, unit in (one for one in running(cloud) if one[0] == name):
            assert (unit == "hostler-master") != (f"systemctl restart {unit}" in said), said
        cloud.web_socket.echo(f"after {name}")
    for (name, unit), pid in before.items():
        now = cloud[name].pid_of(unit)
        assert now != 0 and (now == pid) == (unit != "hostler-master"), f"{name} {unit}: {pid}, now {now}"
    until("the API answers again", lambda: cloud.ask("host", "list"))
    assert "nj:7441" in (cloud["nj-1"].root / "etc/hostler/agent.conf").read_text(), "an upgrade keeps what operators wrote"
    cloud.web_socket.echo("after all")
    assert cloud.page().endswith("200")


def running(cloud):
    return [(name, f"hostler-{role}") for name, machine in cloud.machines.items() for role in (*ROLES, "agent")
            if machine.is_active(f"hostler-{role}")]


def restarting_in_order_keeps_the_instance(cloud):
    before = {one: cloud[one[0]].pid_of(one[1]) for one in running(cloud)}
    for role in ("access", "gateway", "agent"):
        for name, unit in running(cloud):
            if unit == f"hostler-{role}":
                cloud[name].run("systemctl", "restart", unit)
                until(f"{unit} of {name} is active", lambda: cloud[name].is_active(unit), within=20)
                until("the instance answers", lambda: cloud.page().endswith("200"), within=30)
    for (name, unit), pid in before.items():
        assert (cloud[name].pid_of(unit) != pid) == (unit != "hostler-master"), f"{name} {unit}"
    until("four hosts are ready", lambda: [h["state"] for h in cloud.ask("host", "list")] == ["ready"] * 4)
    assert cloud.ask("instance", "get", "web", "--tenant", "acme")["state"] == "running"
    WebSocket(cloud.url, cloud.authority).echo("again")


def a_restart_of_the_package_is_what_its_options_say(cloud):
    """With HOSTLER_RESTART_ON_UPGRADE=yes an upgrade restarts the agent, and a unit that is off stays off."""
    host = cloud["lon-1"]
    conf = host.root / "etc/hostler/agent.conf"
    conf.write_text(conf.read_text().replace("RESTART_ON_UPGRADE=no", "RESTART_ON_UPGRADE=yes"))
    before = host.pid_of("hostler-agent")
    host.shell("dpkg -i /root/hostler-agent_0.1.0~first_*.deb; dpkg -i /root/hostler-agent_0.1.0~second_*.deb")
    until("it has been restarted", lambda: host.pid_of("hostler-agent") not in (0, before), 20)
    cloud["lon"].run("systemctl", "stop", "hostler-access")
    cloud["lon"].shell("dpkg -i /root/hostler_0.1.0~first_*.deb; dpkg -i /root/hostler_0.1.0~second_*.deb")
    assert not cloud["lon"].is_active("hostler-access") and not cloud["lon"].is_active("hostler-master")
    cloud["lon"].run("systemctl", "start", "hostler-access")


def up_on_a_real_address_takes_hosts_of_other_machines(cloud):
    """`hostler up --listen ADDRESS` is a whole cloud for a network: the printed command joins from another machine."""
    data, ready = cloud.work / "up", cloud.work / "up-ready"
    up = subprocess.Popen([cloud.build / "hostler", "up", "--engine", "sim", "--data", data, "--simulate", "hosts=1,gpus=1",
                           "--listen", f"{NAMES['bridge']}:0", "--ready-file", ready],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    host = None
    try:
        until("hostler up is ready", ready.exists, within=60)
        told = json.loads(ready.read_text())
        same((told["api"].rsplit(":", 1)[0], told["gateway"].rsplit(":", 1)[0]), (f"http://{NAMES['bridge']}",) * 2)

        def ask(*words):
            said = cloud["lon"].run("env", f"HOSTLER_API={told['api']}", f"HOSTLER_KEY={told['token']}", "hostler", *words, "-o", "json")
            return json.JSONDecoder().raw_decode(said)[0]
        words = shlex.split(ask("host", "token", "create", "--zone", "nj")["command"], comments=True)
        assert words[words.index("--access") + 1].startswith(NAMES["bridge"]), words
        words[words.index("--data") + 1] = "/var/lib/second-agent"
        host = subprocess.Popen(["nsenter", "-t", str(cloud["nj-2"].leader), "-m", "-u", "-i", "-n", "-p", "-r", "-w", *words,
                                 "--engine", "sim"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until("it has joined", lambda: any((one["name"], one["state"]) == ("nj-2", "ready") for one in ask("host", "list")), 30)
    finally:
        for process in filter(None, (host, up)):
            process.terminate()
            process.wait(timeout=30)


def removing_keeps_data_and_purging_does_not(cloud):
    host, edge = cloud["lon-2"], cloud["lon"]
    for machine, package, data in ((host, "hostler-agent", "/var/lib/hostler-agent"), (edge, "hostler", "/var/lib/hostler")):
        machine.run("apt-get", "remove", "-y", "-q", package)
        assert not machine.is_active("hostler-agent") and not machine.is_active("hostler-access")
        assert "hostler" not in command_lines(machine)
        assert machine.shell(f"ls {data}") and machine.shell("ls /etc/hostler"), "removing keeps data and options"
        machine.run("apt-get", "purge", "-y", "-q", package)
        assert machine.shell(f"ls -d {data} /etc/hostler 2>/dev/null || true") == "", "purging keeps nothing"
        left = machine.shell(r"find /etc/systemd /lib/systemd /usr/bin /usr/lib/hostler* -name 'hostler*' 2>/dev/null || true")
        assert left == "", left


TESTS = (installing_starts_nothing_and_makes_the_user, units_are_right_and_harden,
         an_access_point_without_options_says_so_and_does_not_loop, two_zones_come_up, four_hosts_join_by_the_printed_command,
         an_instance_opens, upgrading_keeps_a_web_socket_open, restarting_in_order_keeps_the_instance,
         a_restart_of_the_package_is_what_its_options_say,
         up_on_a_real_address_takes_hosts_of_other_machines, removing_keeps_data_and_purging_does_not)


def report(name, begun, wrong):
    print(f"[{'  FAILED  ' if wrong else '       OK '}] Package.{name} ({(time.monotonic() - begun) * 1000:.0f} ms)", flush=True)


def run_tests(cloud):
    """Each goes on where the one before ended, so the first that fails is the last; the closing lines are GoogleTest's."""
    passed = 0
    for test in TESTS:
        print(f"[ RUN      ] Package.{test.__name__}", flush=True)
        begun = time.monotonic()
        try:
            test(cloud)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            for name, machine in cloud.machines.items():
                print(f"── {name}\n{machine.journal('hostler-*', 25)}")
            report(test.__name__, begun, True)
            left = len(TESTS) - passed - 1
            print(f"[  PASSED  ] {passed} tests.\n{left} after it were not run, and count as failed.\n {left + 1} FAILED TESTS")
            return 1
        passed += 1
        report(test.__name__, begun, False)
    print(f"[  PASSED  ] {passed} tests.")
    return 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("build", type=pathlib.Path)
    build = arguments.parse_args().build.resolve()
    if os.geteuid() != 0:
        sys.exit("package_test: machines and networks are root's to make")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # What was made is taken away then, too.
    cloud = Cloud(build)
    try:
        begun = time.monotonic()
        cloud.make_packages()
        cloud.make_roots()
        # From here on in a network of our own, and with mounts that nobody else sees.
        machines.leave_network()
        cloud.begin()
        print(f"seven machines after {time.monotonic() - begun:.0f} s", flush=True)
        return run_tests(cloud)
    finally:
        cloud.end()


if __name__ == "__main__":
    sys.exit(main())
