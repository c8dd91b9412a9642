// What the checkers found wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hostler::simulation {

enum class Invariant {
    gpu_once,        // No GPU in two claims of a host, nor used by two running containers.
    fit,             // Nothing is placed on a GPU that is known to be unfit.
    claim_identity,  // Tenant use + stock + foreign + leaving + idle + out of service = capacity.
    one_place,       // No instance runs in two places at once.
    one_writer,      // No volume that a running container may write is mounted by another one.
    ledger,          // The sum of the ledger's lines is what is held.
    durable,         // What was acknowledged is there, or has ended as was wished or stated.
    order,           // No older epoch or generation is obeyed.
    tenancy,         // No tenant is shown anything of another.
    networks,        // No subnet has instances of two projects.
    once,            // Each command is done once, and nothing is done without one.
    reports,         // No report of a host is lost, but for samples that it says had to go.
    samples,         // What a report measured is stored before the report is acknowledged.
    reachable,       // What runs on a living host with a living access point answers within 5 s.
    session,  // What is typed into a session arrives once, in order and whole, and so does what comes back.
    fresh,    // Nobody is shown less than somebody was told before.
    lease,    // Nobody leads, by its own clock, for longer than the database has said.
    one_leader,  // While one leads, by its own clock, no other does.
    idle,        // What was in use a moment ago is not stopped for being unused.
    terms,       // Nothing is placed on a host that is not as its owner wished.
    sells,       // Nothing is placed on a host whose GPUs are not what it says.
    stock,       // No more idle stock gives way than is needed, and never what is kept.
    room,        // What is taken for free is what is free.
    layer,       // What an instance wrote is there when it starts again on the host that keeps it.
    use,         // A volume is shown to be as full as its host said of it, or nothing is shown.
    sealed,      // No secret of a tenant stands in the database as it was said.
    audit,       // The audit is a chain from its first line to its last, and its seals are of it.
    quota,       // Nobody takes more than their quota, and what is counted is what is used.
    ended,       // Nobody acts after the end of what they acted by.
    owned,       // No instance outlives its owner, and nobody else deletes it.
    gang,        // All tasks of a gang have a place, or none, apart from a gang that ends.
    task_once,   // No task of a job runs twice, and none runs that its job does not know.
    job_over,    // A job that is over has no task that begins, and those that it has end in time.
    job_life,    // Jobs keep to their life; attempts keep to their limits; no element gets lost.
    job_key,     // One idempotency key is one job.
    evicted,     // Only borrowed room is taken back, by who is guaranteed it; nobody evicts in turn.
    guaranteed,  // A queue that asks for what it is guaranteed has it within grace.
    starved,     // No gang waits endlessly while smaller jobs begin.
    shares,      // What queues hold is what the tasks of their jobs hold.
    node_host,   // A host is a node of at most one cluster, and nothing else has a place there meanwhile.
    node_step,   // No two steps of a node are under way at a time on one host.
    quorum,      // No member of a control plane goes that the others need, and one changes at a time.
    clean_host,  // A host that is no node has nothing of a cluster.
    output,      // What a step puts out is in no event, log, audit line or answer.
    pods,        // A sample of a GPU names no pod but one of its node that had it a moment ago.
    settled,     // In the calm everything gets where it was to get.
};

struct Finding {
    Invariant invariant;
    std::string text;
};

class Findings {
public:
    std::optional<Invariant> only;  // A test of one checker looks at nothing else.

    void report(Invariant invariant, std::string text) {
        if (only && *only != invariant) return;
        constexpr std::size_t findings_max = 8;  // One would do; the first tells most.
        if (all_.size() < findings_max) all_.push_back({invariant, std::move(text)});
    }
    bool any() const { return !all_.empty(); }
    bool has(Invariant invariant) const {
        for (const Finding& finding : all_)
            if (finding.invariant == invariant) return true;
        return false;
    }
    const std::vector<Finding>& all() const { return all_; }
    std::string text() const;

private:
    std::vector<Finding> all_;
};

std::string_view name(Invariant invariant);

}  // namespace hostler::simulation
