"""A registry of one image for one user, over plain HTTP on a free port of 127.0.0.1: as much as a pull asks for.

usage: private_registry.py USER PASSWORD ROOT_FS_ARCHIVE
"""

import base64
import hashlib
import http.server
import json
import sys

WANTED = "Basic " + base64.b64encode(f"{sys.argv[1]}:{sys.argv[2]}".encode()).decode()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


LAYER = open(sys.argv[3], "rb").read()
CONFIG = json.dumps({
    "architecture": "amd64",
    "os": "linux",
    "config": {"Cmd": ["/demo"]},
    "rootfs": {"type": "layers", "diff_ids": [digest(LAYER)]},
}).encode()
OCI = "application/vnd.oci.image."
MANIFEST = json.dumps({
    "schemaVersion": 2,
    "mediaType": OCI + "manifest.v1+json",
    "config": {"mediaType": OCI + "config.v1+json", "size": len(CONFIG), "digest": digest(CONFIG)},
    "layers": [{"mediaType": OCI + "layer.v1.tar", "size": len(LAYER), "digest": digest(LAYER)}],
}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.headers.get("Authorization") != WANTED:
            body = b'{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}'
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="private"')
            return self.end(body, "application/json")
        kind, body = "application/octet-stream", None
        if self.path == "/v2/":
            kind, body = "application/json", b"{}"
        elif "/manifests/" in self.path:
            kind, body = OCI + "manifest.v1+json", MANIFEST
        elif self.path.endswith(digest(CONFIG)):
            body = CONFIG
        elif self.path.endswith(digest(LAYER)):
            body = LAYER
        self.send_response(404 if body is None else 200)
        self.send_header("Docker-Distribution-API-Version", "registry/2.0")
        if body is MANIFEST:
            self.send_header("Docker-Content-Digest", digest(MANIFEST))
        self.end(body or b"{}", kind)

    do_HEAD = do_GET

    def end(self, body, kind):
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"listens at {server.server_address[1]}.", flush=True)
server.serve_forever()
