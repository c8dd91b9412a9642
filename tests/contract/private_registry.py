"""A registry of one image for one user, over plain HTTP on a free port of 127.0.0.1: as much as a pull asks for.

usage: private_registry.py USER PASSWORD ROOT_FS_ARCHIVE [ADDRESS [CERTIFICATE_AND_KEY]]

With a file of a certificate and its key it speaks TLS, at ADDRESS.
"""

import base64
import hashlib
import http.server
import json
import ssl
import sys

WANTED = "Basic " + base64.b64encode(f"{sys.argv[1]}:{sys.argv[2]}".encode()).decode()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


LAYER = open(sys.argv[3], "rb").read()
OCI = "application/vnd.oci.image."


def image(architecture="amd64", **more):
    """Config and manifest."""
    config = json.dumps({"architecture": architecture, "os": "linux", "config": {"Cmd": ["/demo"], **more},
                         "rootfs": {"type": "layers", "diff_ids": [digest(LAYER)]}}).encode()
    return config, json.dumps({
        "schemaVersion": 2,
        "mediaType": OCI + "manifest.v1+json",
        "config": {"mediaType": OCI + "config.v1+json", "size": len(config), "digest": digest(config)},
        "layers": [{"mediaType": OCI + "layer.v1.tar", "size": len(LAYER), "digest": digest(LAYER)}],
    }).encode()


# By the last part of the repository's name; any other is as the first.
IMAGES = {"api": image(), "other-machine": image("arm64"), "large-user": image(User="70000"), "no-user": image(User="nobody-here"),
          "other-user": image(User="1000:1000")}
BLOBS = {digest(LAYER): LAYER, **{digest(config): config for config, _ in IMAGES.values()}}
MANIFESTS = {digest(manifest): manifest for _, manifest in IMAGES.values()}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.headers.get("Authorization") != WANTED:
            body = b'{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}'
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="private"')
            return self.end(body, "application/json")
        kind, body = "application/octet-stream", None
        last = self.path.rsplit("/", 1)[-1]
        if self.path == "/v2/":
            kind, body = "application/json", b"{}"
        elif "/manifests/" in self.path:
            repository = self.path.rsplit("/", 3)[-3]
            kind, body = OCI + "manifest.v1+json", MANIFESTS.get(last, IMAGES.get(repository, IMAGES["api"])[1])
        else:
            body = BLOBS.get(last)
        self.send_response(404 if body is None else 200)
        self.send_header("Docker-Distribution-API-Version", "registry/2.0")
        if kind.endswith("manifest.v1+json"):
            self.send_header("Docker-Content-Digest", digest(body))
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


server = http.server.ThreadingHTTPServer((sys.argv[4] if len(sys.argv) > 4 else "127.0.0.1", 0), Handler)
if len(sys.argv) > 5:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(sys.argv[5])
    server.socket = tls.wrap_socket(server.socket, server_side=True)
print(f"listens at {server.server_address[1]}.", flush=True)
server.serve_forever()
