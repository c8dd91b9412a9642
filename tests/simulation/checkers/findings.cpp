#include "findings.h"

#include <fmt/format.h>

namespace hostler::simulation {

std::string_view name(Invariant invariant) {
    switch (invariant) {
        case Invariant::gpu_once: return "gpu_once";
        case Invariant::fit: return "fit";
        case Invariant::claim_identity: return "claim_identity";
        case Invariant::one_place: return "one_place";
        case Invariant::one_writer: return "one_writer";
        case Invariant::ledger: return "ledger";
        case Invariant::durable: return "durable";
        case Invariant::order: return "order";
        case Invariant::tenancy: return "tenancy";
        case Invariant::networks: return "networks";
        case Invariant::once: return "once";
        case Invariant::reports: return "reports";
        case Invariant::samples: return "samples";
        case Invariant::reachable: return "reachable";
        case Invariant::session: return "session";
        case Invariant::fresh: return "fresh";
        case Invariant::lease: return "lease";
        case Invariant::one_leader: return "one_leader";
        case Invariant::idle: return "idle";
        case Invariant::terms: return "terms";
        case Invariant::sells: return "sells";
        case Invariant::stock: return "stock";
        case Invariant::room: return "room";
        case Invariant::layer: return "layer";
        case Invariant::use: return "use";
        case Invariant::sealed: return "sealed";
        case Invariant::audit: return "audit";
        case Invariant::quota: return "quota";
        case Invariant::ended: return "ended";
        case Invariant::owned: return "owned";
        case Invariant::gang: return "gang";
        case Invariant::task_once: return "task_once";
        case Invariant::job_over: return "job_over";
        case Invariant::job_life: return "job_life";
        case Invariant::job_key: return "job_key";
        case Invariant::evicted: return "evicted";
        case Invariant::guaranteed: return "guaranteed";
        case Invariant::starved: return "starved";
        case Invariant::shares: return "shares";
        case Invariant::node_host: return "node_host";
        case Invariant::node_step: return "node_step";
        case Invariant::quorum: return "quorum";
        case Invariant::clean_host: return "clean_host";
        case Invariant::output: return "output";
        case Invariant::pods: return "pods";
        case Invariant::settled: return "settled";
    }
    return "";
}

std::string Findings::text() const {
    std::string text;
    for (const Finding& finding : all_)
        text += fmt::format("{}: {}\n", name(finding.invariant), finding.text);
    return text;
}

}  // namespace hostler::simulation
