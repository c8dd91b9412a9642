#!/usr/bin/env python3
"""Calls made from openapi.json with each role's credential, to a real master: schema_test.py BUILD_FOLDER [--filter ROLE]"""
import argparse
import concurrent.futures
import http.client
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import hypothesis
import requests
import schemathesis
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (content_type_conformance, response_headers_conformance, response_schema_conformance,
                                               status_code_conformance)

TREE = pathlib.Path(__file__).resolve().parents[2]
KEY = "hk_" + "operator-of-a-cloud-that-is-read-by-schema".ljust(43, "x")
PASSWORD = "correct horse battery staple"
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance, response_schema_conformance]
# They end the credential that asks, or the master's term, or have no end.
EXCLUDED = {"signOut", "changePassword", "revokeSession", "rotateAuthority", "watchChanges"}
# Objects that are there, for paths and filters with these names.
THERE = {"tenant": "schema", "tenantID": "schema", "project": "lab", "volume": "data", "zone": "nj", "user": "member@example.com",
         "spec": "small", "role": "member"}
# Role, and where it is granted.
ROLES = {"operator": {"cloud": True}, "support": {"cloud": True}, "auditor": {"cloud": True}, "provider": {"provider": "farm"},
         "tenant-admin": {"tenantID": "schema"}, "billing": {"tenantID": "schema"},
         "project-admin": {"tenantID": "schema", "project": "lab"}, "member": {"tenantID": "schema", "project": "lab"},
         "viewer": {"tenantID": "schema", "project": "lab"}}


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


def made_calls(definition):
    """Cases of each operation that a credential may try: valid ones, a malformed one, and one that names what is there."""
    cases = []
    for found in schemathesis.openapi.from_dict(definition).get_all_operations():
        operation = found.ok()
        if operation.definition.raw["operationId"] in EXCLUDED:
            continue
        made = []
        for mode, number in ((GenerationMode.POSITIVE, 3), (GenerationMode.NEGATIVE, 1)):

            @hypothesis.seed(1)
            @hypothesis.settings(max_examples=number, database=None, deadline=None, phases=[hypothesis.Phase.generate],
                                 suppress_health_check=list(hypothesis.HealthCheck))
            @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
            def some(case):
                (case.query or {}).pop("watch", None)  # It has no end.
                for credential in ("Authorization", "X-Hostler-Key"):  # Each caller has another.
                    (case.headers or {}).pop(credential, None)
                made.append(case)

            try:
                some()
            except (hypothesis.errors.Unsatisfiable, schemathesis.errors.SchemathesisError):
                if mode == GenerationMode.POSITIVE:  # There are operations that nothing is wrong for.
                    raise
        cases += made
        if operation.method == "get" and made:
            there = {name: THERE.get(name, value) for name, value in (made[0].path_parameters or {}).items()}
            cases.append(operation.Case(path_parameters=there, query={}, headers={}, cookies={}))
    return cases


def ask_all(master, cases, secret, pause):
    """What is wrong with the answers, and how many there were."""
    wrong, answered = [], 0
    with requests.Session() as session:
        session.headers["Authorization"] = "Bearer " + secret
        for case in cases:
            for _ in range(50):
                time.sleep(pause)
                response = case.call(base_url=f"http://127.0.0.1:{master.port}", session=session, timeout=30)
                if response.status_code != 429:
                    break
                time.sleep(0.2)
            answered += 1
            try:
                case.validate_response(response, checks=CHECKS)
            except (Exception, BaseExceptionGroup) as error:
                wrong.append(f"{case.operation.label}: {error}")
    return wrong, answered


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--filter", default="", help="only roles with this in their name")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # What was made is taken away then, too.
    cases = made_calls(json.loads((TREE / "openapi.json").read_text()))
    master = Master(options.build.resolve())
    passed, failed = 0, 0

    def ask(caller):
        name, secret = caller
        # Strangers have a rate of 20 a second, keys one of 200.
        few, begun = name == "stranger", time.monotonic()
        return *ask_all(master, cases[::5] if few else cases, secret, 0.05 if few else 0.004), time.monotonic() - begun

    try:
        callers = [(name, secret) for name, secret in credentials(master).items() if options.filter in name]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for (name, _), (wrong, answered, took) in zip(callers, pool.map(ask, callers)):
                title = "Schema." + name.replace(" ", "_").replace("-", "_")
                print(f"[ RUN      ] {title}\n" + ("\n".join(wrong[:20]) if wrong else f"{answered} calls"))
                print(f"[{'  FAILED  ' if wrong else '       OK '}] {title} ({took * 1000:.0f} ms)", flush=True)
                passed, failed = passed + (not wrong), failed + bool(wrong)
        if master.process.poll() is not None:
            print(f"the master has ended:\n{(master.folder / 'log').read_text()[-4000:]}")
            failed += 1
    finally:
        master.end()
    print(f"[  PASSED  ] {passed} tests." + (f"\n {failed} FAILED TESTS" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
