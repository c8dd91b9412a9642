"""Machines with a systemd of their own, by systemd-nspawn, on a bridge that only this test sees."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

CGROUPS = pathlib.Path("/sys/fs/cgroup")


def run(*words, check=True, **more):
    done = subprocess.run([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=more.pop("timeout", 300), **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout[-3000:]}")
    return done.stdout


def same(seen, expected):
    if seen != expected:
        raise AssertionError(f"is {seen!r}, and should be {expected!r}")


def until(what, so, within=60.0, every=0.1):
    """What `so` answers, once it is true; what it raises counts as no answer yet."""
    end = time.monotonic() + within
    last = None
    while time.monotonic() < end:
        try:
            answer = so()
            if answer:
                return answer
            last = answer
        except AssertionError as wrong:
            last = wrong
        time.sleep(every)
    raise AssertionError(f"not within {within:.0f} s: {what}; last: {last}")


def hierarchies():
    """Where groups are made: one place with cgroup v2, a place for each controller before."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS]
    return [one for one in CGROUPS.iterdir() if (one / "cgroup.procs").exists() and not one.is_symlink()]


class Root:
    """A clean Debian 12 as a folder, and what is installed in it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    @staticmethod
    def debian(folder, packages):
        root = Root(folder)
        archive = f"{folder}.tar"
        run("mmdebstrap", "--variant=minbase", f"--include={','.join(packages)}", "bookworm", archive, timeout=600)
        root.folder.mkdir()
        run("tar", "-C", folder, "--numeric-owner", "-xf", archive)
        os.unlink(archive)
        # The archive is asked as this machine asks it.
        for conf in pathlib.Path("/etc/apt/apt.conf.d").glob("*"):
            if "Acquire::" in conf.read_text():
                shutil.copy(conf, root.folder / "etc/apt/apt.conf.d" / conf.name)
        return root

    def copy(self, folder):
        run("cp", "-a", "--reflink=auto", self.folder, folder)
        return Root(folder)

    def layer(self, folder):
        """One that has what this one has, and keeps for itself what is written to it."""
        for part in ("upper", "work", "root"):
            (folder / part).mkdir(parents=True)
        run("mount", "-t", "overlay", "overlay", "-o",
            f"lowerdir={self.folder},upperdir={folder}/upper,workdir={folder}/work", folder / "root")
        return Root(folder / "root")

    def shell(self, script):
        """Runs `script` in it, before it boots: with this machine's network, without a systemd."""
        return run("systemd-nspawn", "-q", "--register=no", "--keep-unit", "-D", self.folder, "--resolv-conf=replace-host",
                   "--pipe", "--setenv=DEBIAN_FRONTEND=noninteractive", "sh", "-ec", script, timeout=600)


class Machine:
    """A machine that boots from a root of its own, with an address on the bridge."""

    def __init__(self, name, root, address, names, bridge, groups):
        self.name, self.root, self.address = name, root.folder, address
        self.bridge, self.group = bridge, f"{groups}/{name}"
        self.process = None
        self.leader = 0
        (self.root / "etc/hostname").write_text(name + "\n")
        (self.root / "etc/hosts").write_text(
            "127.0.0.1 localhost\n" + "".join(f"{where} {who}\n" for who, where in names.items()))
        (self.root / "etc/machine-id").write_text("")
        # Its address, and groups that container engines may write to.
        (self.root / "etc/systemd/system/test-machine.service").write_text(f"""[Unit]
DefaultDependencies=no
Before=network-pre.target sysinit.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'ip link set host0 up; ip addr add {address}/24 dev host0; ip route add default via {names["bridge"]}; \
for at in /sys/fs/cgroup /sys/fs/cgroup/*; do mountpoint -q $at && mount -o remount,bind,rw $at; done; true'
[Install]
WantedBy=sysinit.target
""")
        wants = self.root / "etc/systemd/system/sysinit.target.wants"
        wants.mkdir(exist_ok=True)
        (wants / "test-machine.service").symlink_to("/etc/systemd/system/test-machine.service")
        for timer in ("apt-daily.timer", "apt-daily-upgrade.timer", "podman-auto-update.timer"):
            (self.root / f"etc/systemd/system/{timer}").symlink_to("/dev/null")

    def enter_groups(self):
        for at in hierarchies():
            group = at / self.group
            group.mkdir(parents=True, exist_ok=True)
            for path in (group.parent, group):  # A cpuset begins empty, and takes nobody in.
                for what in ("cpuset.cpus", "cpuset.mems"):
                    if at.name == "cpuset" and not (path / what).read_text().strip():
                        (path / what).write_text((path.parent / what).read_text())
            (group / "cgroup.procs").write_text(str(os.getpid()))

    def boot(self):
        log = open(f"{self.root}.log", "ab")
        containers = self.root.parent / "containers"  # Layers of images do not lie on layers.
        containers.mkdir()
        self.process = subprocess.Popen(
            ["systemd-nspawn", "-q", "--register=no", "--keep-unit", "-D", str(self.root), "--boot", f"--machine={self.name}",
             f"--network-bridge={self.bridge}", "--capability=all", "--system-call-filter=@keyring bpf", "--console=pipe",
             f"--bind={containers}:/var/lib/containers", "--setenv=SYSTEMD_LOG_TARGET=journal"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=self.enter_groups)

    def wait(self):
        def booted():
            children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            if not children:
                return False
            self.leader = int(children[0])
            return self.run("systemctl", "is-system-running", check=False).strip() in ("running", "degraded")
        until(f"{self.name} has booted", booted, within=60)

    def run(self, *words, **more):
        return run("nsenter", "-t", self.leader, "-m", "-u", "-i", "-n", "-p", "-r", "-w", *words, **more)

    def shell(self, script, **more):
        return self.run("sh", "-ec", script, **more)

    def pid_of(self, unit):
        return int(self.run("systemctl", "show", "--property=MainPID", "--value", unit))

    def is_active(self, unit):
        return self.run("systemctl", "is-active", unit, check=False).strip() == "active"

    def journal(self, unit, lines=40):
        return self.run("journalctl", "--no-pager", "-n", lines, "-u", unit, check=False)

    def stop(self):
        if not self.process:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def end_groups(groups):
    """Ends what is still in the groups of the machines, and takes the groups away."""
    for at in hierarchies():
        top = at / groups
        if not top.exists():
            continue
        folders = sorted((one for one in top.rglob("*") if one.is_dir()), key=lambda one: -len(one.parts)) + [top]
        for folder in folders:
            for _ in range(50):
                for pid in (folder / "cgroup.procs").read_text().split():
                    os.kill(int(pid), signal.SIGKILL)
                try:
                    folder.rmdir()
                    break
                except OSError:
                    time.sleep(0.1)


def work_folder():
    return pathlib.Path(tempfile.mkdtemp(prefix="hostler-package-", dir="/var/tmp"))


def leave_network():
    """This process, and what it starts, in a network and with mounts of its own."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, new_network, private, recursive = 0x00020000, 0x40000000, 1 << 18, 16384
    if libc.unshare(new_mounts | new_network) != 0 or libc.mount(None, b"/", None, private | recursive, None) != 0:
        raise OSError(ctypes.get_errno(), "no network namespace of our own")
