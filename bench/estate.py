"""The master's estate at full size: how long its thread is held up, what a create costs there, and how many starts it does in a second.

Real: the leading term with its rules, its sweep and its indexes; the API's operations, from JSON to JSON, and a watch; the frames of hosts
and what the master makes of them; the SQLite store with its syncs; authority, sealing, series store. All settings are the defaults.
Simulated: the hosts. Each says what an agent says and obeys at once, by frames without TLS, in the same process on a thread of its own;
so do the clients. No HTTP, no admission of requests, no access point and no gateway is on the way, and samples of GPUs are in no report
(the benches `gateway` and `agents` have these). Every other instance has an inactivity timeout.

stay:          ms of CPU that the longest turn of the estate's loop took (a call, a sweep, a report, a commit), while instances are
               created and deleted. stay-wall is the same by the clock, with what other threads and processes of this machine took.
create-growth: CPU of the estate's thread from a create to its answer, its commit included, of calls one after the other (median), against
               that of a twentieth of the hosts; life-growth: the same for a whole life under load, with all reports and sweeps.
dry-run:       ms of CPU from a dry run of a create to its answer (median).
idle-sweep:    % of a core that the estate's thread takes when all runs and nobody says anything; idle: with a report of each host in 10 s.
starts:        instances that were created, seen running, deleted and seen gone in a second, all through the API, each step durable.
               Kubernetes does 149 pods a second and Slurm 80 jobs, on two such cores.
"""

import json
import pathlib
import subprocess
import sys

from bench import RELEASE, Bench, Place, arguments

WITHIN_S = 300


def main():
    options = arguments(__doc__, hosts=(2_000, "hosts of eight GPUs; measured beside a twentieth of them"), tenants=(2_000, "tenants"),
                        clients=(128, "clients at once; a life waits for several commits, so that fewer leave the threads idle"), samples=(1_000, "calls one after the other"), seconds=(30, "s of load"),
                        build=(str(RELEASE), "folder of the executables"))
    bench = Bench("estate")
    with Place() as place:
        words = [pathlib.Path(options.build) / "bench-estate", "--folder", place.folder]
        for name in ("hosts", "tenants", "clients", "samples", "seconds"):
            words += [f"--{name}", getattr(options, name)]
        try:
            ended = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, timeout=WITHIN_S)
        except subprocess.TimeoutExpired:
            sys.exit(f"bench-estate did not end within {WITHIN_S} s")
        if ended.returncode != 0:
            sys.exit(ended.returncode)
    got = json.loads(ended.stdout)
    small = options.hosts // 20
    print(f"{options.hosts} hosts of 8 GPUs, {8 * options.hosts - options.clients} running instances of {options.tenants} tenants, "
          f"{options.clients} clients. Real: term, API, frames, SQLite with its syncs. Simulated: hosts (they obey at once), TLS, HTTP.")
    bench.row("stay", "ms", got["stay_ms"], gate="<= 20", goal="<= 5")
    bench.row("stay-wall", "ms", got["stay_wall_ms"])
    bench.row("create", "us", got["create_us"])
    bench.row("create-growth", f"x of {small} hosts", got["create_us"] / got["create_small_us"], gate="<= 1.5")
    bench.row("life", "us", got["life_us"])
    bench.row("life-growth", f"x of {small} hosts", got["life_us"] / got["life_small_us"])
    bench.row("dry-run", "ms", got["dry_run_us"] / 1000, gate="<= 1")
    bench.row("dry-run-p99", "ms", got["dry_run_p99_us"] / 1000)
    bench.row("idle-sweep", "% of a core", got["sweep_percent"], gate="<= 3")
    bench.row("idle", "% of a core", got["idle_percent"])
    bench.row("starts", "1/s", got["starts"], gate=">= 500", goal=">= 2000")
    bench.report(options.json)


if __name__ == "__main__":
    main()
