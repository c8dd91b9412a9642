"""The way in beside nginx and HAProxy: CPU a request and latency, 1 KiB answers over kept connections.

proxy-*:  one hop to the same origin over plain TCP: the gateway's front (bench/front.cpp) | nginx | HAProxy.
tunnel-*: to a container: gateway, access point and agent summed | nginx to nginx over TLS, summed.

Whatever is measured runs alone on the last CPU, wrk and the origin on the others; rounds alternate. A ratio is the
median of the rounds' ratios. CPU is what the scheduler counted for the threads measured.
"""

import http.client
import json
import os
import subprocess
import sys
import urllib.parse

from bench import RELEASE, Bench, Place, arguments, children, cpu_ns, free_port, listens, median, until, wrk

BODY = "x" * 1024


def nginx(place, name, cpus, server):
    """Starts one worker with `server` as the inside of http {}; answers its process."""
    conf = place.file(
        f"{name}.conf",
        f"""daemon off; worker_processes 1; pid {place.folder}/{name}.pid; error_log stderr crit;
        events {{ worker_connections 4096; }}
        http {{ access_log off; keepalive_requests 1000000000; keepalive_timeout 300s;
        client_body_temp_path {place.folder}/{name}-b; proxy_temp_path {place.folder}/{name}-p;
        fastcgi_temp_path {place.folder}/{name}-f; uwsgi_temp_path {place.folder}/{name}-u; scgi_temp_path {place.folder}/{name}-s;
        {server} }}""",
    )
    return place.start(["nginx", "-c", conf, "-e", "stderr"], name, cpus)


def proxy_to(upstream, port, tls=False):
    return f"""upstream there {{ server {upstream}; keepalive 128; keepalive_requests 1000000000; keepalive_timeout 300s; }}
    server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {'https' if tls else 'http'}://there; proxy_http_version 1.1;
    proxy_set_header Connection ""; proxy_set_header Host $host; proxy_ssl_protocols TLSv1.3; proxy_ssl_session_reuse on; }} }}"""


def haproxy(place, cpus, port, origin):
    conf = place.file(
        "haproxy.conf",
        f"""global
    nbthread 1
    maxconn 4096
defaults
    mode http
    timeout connect 5s
    timeout client 300s
    timeout server 300s
    http-reuse always
frontend front
    bind 127.0.0.1:{port}
    default_backend origin
backend origin
    server one 127.0.0.1:{origin}
""",
    )
    return place.start(["haproxy", "-db", "-f", conf], "haproxy", cpus)


class Side:
    def __init__(self, name, url, pids, host=None):
        self.name, self.url, self.pids, self.host = name, url, pids, host
        self.cpu, self.p99, self.rate = [], [], []

    def measure(self, seconds, connections, cpus):
        pids = self.pids()
        before = cpu_ns(pids)
        requests, p99 = wrk(self.url, seconds, connections, cpus, self.host)
        self.cpu.append((cpu_ns(pids) - before) / 1000 / requests)
        self.p99.append(p99)
        self.rate.append(requests / seconds)


def compare(bench, kind, ours, peers, options, cpus, gates):
    sides = [ours] + peers
    for side in sides:
        side.measure(1, options.connections, cpus)  # Warm: connections to the origin, caches.
        side.cpu, side.p99, side.rate = [], [], []
    for round_ in range(options.rounds):
        for side in sides if round_ % 2 == 0 else reversed(sides):
            side.measure(options.seconds, options.connections, cpus)
    for side in sides:
        print(f"{kind} {side.name}: {median(side.cpu):.2f} us/request (rounds {min(side.cpu):.2f} to {max(side.cpu):.2f}), "
              f"p99 {median(side.p99):.2f} ms, {median(side.rate):.0f} requests/s", file=sys.stderr)
    for peer in peers:
        gate, goal = gates if peer is peers[0] else (None, None)
        for row, unit, own, other in [("cpu", "us/request", ours.cpu, peer.cpu), ("p99", "ms", ours.p99, peer.p99)]:
            ratio = median([b / a for a, b in zip(own, other)])
            bounds = {"gate": gate, "goal": goal} if row == "cpu" else {"goal": ">= 1.0" if gate else None}
            bench.row(f"{kind}-{row}", unit, median(own), peer.name, median(other), ratio, **bounds)


def proxies(bench, options, own, others):
    with Place() as place:
        origin, ports = free_port(), [free_port() for _ in range(3)]
        nginx(place, "origin", others, f'server {{ listen 127.0.0.1:{origin}; location / {{ return 200 "{BODY}"; }} }}')
        until(lambda: listens(origin), "nginx as the origin")
        front = place.start([RELEASE / "bench-front", f"127.0.0.1:{ports[0]}", f"127.0.0.1:{origin}"], "front", own)
        peer = nginx(place, "nginx", own, proxy_to(f"127.0.0.1:{origin}", ports[1]))
        second = haproxy(place, own, ports[2], origin)
        for port in ports:
            until(lambda: listens(port), "a proxy")
        sides = [Side(name, f"http://127.0.0.1:{port}/", lambda process=process: children(process.pid), host)
                 for name, port, process, host in [("hostler", ports[0], front, f"bench.localhost:{ports[0]}"),
                                                   ("nginx", ports[1], peer, None), ("haproxy", ports[2], second, None)]]
        compare(bench, "proxy", sides[0], sides[1:], options, others, (">= 0.9", ">= 1.1"))


def call(base, method, path, token=None, body=None, host=None, content="application/json"):
    where = urllib.parse.urlsplit(base)
    connection = http.client.HTTPConnection(where.hostname if not where.hostname.endswith("localhost") else "127.0.0.1", where.port, timeout=30)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers.update({"Host": host} if host else {})
    headers.update({"Content-Type": content} if body is not None else {})
    connection.request(method, path, body if isinstance(body, (str, type(None))) else json.dumps(body), headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def cloud(place, *more, build=RELEASE):
    """A cloud of two simulated hosts with slots in stock, all on one; answers its ready file's object."""
    ready = place.folder / "ready.json"
    up = place.start([build / "hostler", "up", "--data", place.folder / "data", "--listen", "127.0.0.1:0",
                      "--ready-file", ready, *more], "up", gentle=True)
    until(lambda: ready.exists() or up.poll() is not None, "hostler up", 60)
    if up.poll() is not None:
        sys.exit((place.folder / "up.log").read_text())
    told = json.loads(ready.read_text())
    status, answer = call(told["api"], "POST", "/stocks?zone=nj", told["token"],
                          {"number": 4, "operationID": "bench", "specName": "bench", "cpu": "2", "memory": "256Mi",
                           "gpuType": "H100 SXM5 80GB", "gpuNum": 1})
    if status != 200:
        sys.exit(f"stock: {status} {answer}")
    return told


def pids_of(place, *words):
    """Processes of this cloud that have one of `words` among their arguments."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = open(f"/proc/{pid}/cmdline").read().split("\0")
        except OSError:
            continue
        if any(str(place.folder) in word for word in line) and any(word in line for word in words):
            found.append(int(pid))
    return found


def instance(told, name, port, spec="bench", zone=None, **more):
    body = {"instanceID": name, "tenantID": "bench", "tenantName": "Bench", "image": told["demoImage"], "specName": spec,
            "template": {"ports": [{"port": port, "protocol": "TCP", "isPublic": True, "isProbe": True, "baseUrl": ""}], **more}}
    status, answer = call(told["api"], "POST", f"/gpu-instances?zone={zone}" if zone else "/gpu-instances", told["token"], body)
    if status != 200:
        sys.exit(f"instance {name}: {status} {answer}")


def shown(told, name):
    return json.loads(call(told["api"], "GET", f"/v1/instances/{name}?tenantID=bench", told["token"])[1])


def tunnels(bench, options, own, others):
    with Place() as place:
        told = cloud(place)
        instance(told, "one", 8080, envs=[{"name": "DATA_DIR", "value": "/tmp"}])
        seen = until(lambda: (now := shown(told, "one"))["state"] == "running" and now, "the instance runs", 60)
        url = urllib.parse.urlsplit(seen["urls"][0]["url"])
        status, _ = call(told["gateway"], "PUT", "/files/body", body=BODY, host=url.netloc, content="text/plain")
        if status != 201:
            sys.exit(f"the demo instance took no file: {status}")
        host = json.loads(call(told["api"], "GET", f"/v1/hosts/{seen['host']}", told["token"])[1])["name"]
        data = place.folder / "data"
        measured = pids_of(place, str(data / "gateway"), str(data / "access-nj"), str(data / "access-lon"), str(data / "hosts" / host))
        for pid in measured:
            subprocess.run(["taskset", "-a", "-p", "-c", ",".join(map(str, own)), str(pid)], check=True, capture_output=True)
        address = container_address(place)
        key, certificate = place.folder / "k.pem", place.folder / "c.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                        key, "-out", certificate, "-subj", "/CN=bench", "-days", "2"], check=True, capture_output=True)
        ports = [free_port(), free_port()]
        inner = nginx(place, "inner", own, proxy_to(f"{address}:8080", ports[0]).replace(
            f"listen 127.0.0.1:{ports[0]};", f"listen 127.0.0.1:{ports[0]} ssl; ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.3;"))
        outer = nginx(place, "outer", own, proxy_to(f"127.0.0.1:{ports[0]}", ports[1], tls=True))
        for port in ports:
            until(lambda: listens(port), "nginx")
        gateway = urllib.parse.urlsplit(told["gateway"])
        ours = Side("hostler", f"http://127.0.0.1:{gateway.port}/files/body", lambda: measured, url.netloc)
        peer = Side("nginx", f"http://127.0.0.1:{ports[1]}/files/body", lambda: children(inner.pid) + children(outer.pid))
        compare(bench, "tunnel", ours, [peer], options, others, (">= 0.3", ">= 0.5"))


def container_address(place):
    engine = place.folder / "data" / "engine"
    environment = {**os.environ, "CONTAINERS_CONF": f"{engine}/containers.conf", "CONTAINERS_STORAGE_CONF": f"{engine}/storage.conf"}
    words = ["podman", "ps", "-q", "--filter", "label=hostler.instance"]
    name = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout.split()[0]
    form = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
    return subprocess.run(["podman", "inspect", "-f", form, name], env=environment, capture_output=True, text=True, check=True).stdout.strip()


def main():
    options = arguments(__doc__.splitlines()[0], rounds=(9, "alternating rounds"), seconds=(3, "a round and side"),
                        connections=(64, "at once"), only=("", "proxy or tunnel; empty: both"))
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        sys.exit("this needs two CPUs: one for what is measured, one for what asks")
    own, others = {cpus[-1]}, set(cpus[:-1])
    bench = Bench("gateway")
    if options.only in ("", "proxy"):
        proxies(bench, options, own, others)
    if options.only in ("", "tunnel"):
        tunnels(bench, options, own, others)
    bench.report(options.json)


if __name__ == "__main__":
    main()
