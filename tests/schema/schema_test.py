#!/usr/bin/env python3
"""Calls made from openapi.json with each role's credential, to a real master: schema_test.py BUILD_FOLDER SCHEMATHESIS [--filter ROLE]"""
import argparse
import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
KEY = "hk_" + "operator-of-a-cloud-that-is-read-by-schema".ljust(43, "x")
PASSWORD = "correct horse battery staple"
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance")
# They end the credential that asks, or have no end.
EXCLUDED = ("signOut", "changePassword", "revokeSession", "watchEvents")
# Role, and where it is granted.
ROLES = {"operator": {"cloud": True}, "support": {"cloud": True}, "auditor": {"cloud": True}, "provider": {"provider": "farm"},
         "tenant-admin": {"tenantID": "schema"}, "billing": {"tenantID": "schema"},
         "project-admin": {"tenantID": "schema", "project": "lab"}, "member": {"tenantID": "schema", "project": "lab"},
         "viewer": {"tenantID": "schema", "project": "lab"}}
SECONDS = 9  # Of calls for each credential.


class Master:
    def __init__(self, build):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hostler-schema-"))
        (self.folder / "operator.key").write_text(KEY)
        (self.folder / "operator.key").chmod(0o600)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen([build / "hostler", "master", "--data", self.folder, "--api", f"127.0.0.1:{self.port}",
                                         "--wire", "127.0.0.1:0", "--templates", ""], stdout=self.log, stderr=self.log)
        self.until_it_answers()

    def until_it_answers(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return self.ask("GET", "/v1/zones")
            except (OSError, AssertionError):
                time.sleep(0.05)
        raise AssertionError(f"the master does not answer:\n{(self.folder / 'log').read_text()[-4000:]}")

    def ask(self, method, path, body=None, key=KEY):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Content-Type": "application/json"} | ({"Authorization": "Bearer " + key} if key else {})
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status in (200, 201), f"{method} {path}: {answer.status} {text}"
        return json.loads(text or "{}")

    def end(self):
        self.process.terminate()
        self.process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)


def person(master, role, where):
    """A person with this role and nothing else; gives the secret of a session."""
    login = f"{role}@example.com"
    home = {"tenantID": where["tenantID"]} if "tenantID" in where else {}
    made = master.ask("POST", "/v1/users", {"login": login, "name": role, "email": login, **home})
    master.ask("POST", "/v1/grants", {"subject": "user/" + login, "role": role, **where})
    master.ask("POST", "/v1/password-reset", {"secret": made["secret"], "newPassword": PASSWORD}, key=None)
    return master.ask("POST", "/v1/sign-in", {"login": login, "password": PASSWORD}, key=None)["secret"]


def credentials(master):
    master.ask("POST", "/v1/tenants", {"name": "schema"})
    master.ask("POST", "/v1/projects", {"name": "lab", "tenantID": "schema"})
    master.ask("POST", "/v1/zones", {"name": "nj"})
    master.ask("POST", "/v1/volumes", {"name": "data", "size": "1Gi", "project": "lab", "tenantID": "schema"})
    found = {role: person(master, role, where) for role, where in ROLES.items()}
    found["operator key"] = master.ask("POST", "/v1/api-keys", {"name": "schema", "isOperator": True})["secret"]
    found["tenant key"] = master.ask("POST", "/v1/api-keys", {"name": "schema", "tenantID": "schema"})["secret"]
    found["stranger"] = "hk_" + "y" * 43
    return found


def run(schemathesis, master, name, secret):
    """Gives the failures as text, empty when there are none."""
    rate = "15/s" if name == "stranger" else "150/s"  # Below what the master admits of one.
    words = [schemathesis, "run", TREE / "openapi.json", "--url", f"http://127.0.0.1:{master.port}", "-H", f"Authorization: Bearer {secret}",
             "--phases", "examples,coverage,fuzzing", "--checks", ",".join(CHECKS), "--rate-limit", rate, "--max-time", SECONDS,
             "--request-timeout", 10, "--seed", 1, "--generation-database", "none", "--no-color", "--no-shrink", "--continue-on-failure",
             "--warnings", "off"]
    for operation in EXCLUDED:
        words += ["--exclude-operation-id", operation]
    ran = subprocess.run([str(word) for word in words], cwd=master.folder, capture_output=True, text=True, timeout=180)
    cases = re.search(r"([\d,]+) generated", ran.stdout)
    made = int(cases[1].replace(",", "")) if cases else 0
    if ran.returncode == 0 and made >= 50:
        print(f"{name}: {made} calls")
        return ""
    return ran.stdout[-20000:] + ran.stderr[-4000:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("schemathesis", type=pathlib.Path)
    parser.add_argument("--filter", default="", help="only roles with this in their name")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # What was made is taken away then, too.
    master = Master(options.build.resolve())
    passed, failed = 0, 0
    try:
        for name, secret in credentials(master).items():
            if options.filter not in name:
                continue
            title = "Schema." + name.replace(" ", "_").replace("-", "_")
            print(f"[ RUN      ] {title}", flush=True)
            begun = time.monotonic()
            wrong = run(options.schemathesis.resolve(), master, name, secret)
            if not wrong and master.process.poll() is not None:
                wrong = f"the master has ended:\n{(master.folder / 'log').read_text()[-4000:]}"
            print(wrong)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            print(f"[{'  FAILED  ' if wrong else '       OK '}] {title} ({(time.monotonic() - begun) * 1000:.0f} ms)", flush=True)
    finally:
        master.end()
    print(f"[  PASSED  ] {passed} tests." + (f"\n {failed} FAILED TESTS" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
