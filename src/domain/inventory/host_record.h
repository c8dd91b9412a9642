// What the cloud knows of a host beside what the host says of itself.
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/health/state.h"
#include "domain/inventory/access_speed.h"
#include "domain/inventory/admission.h"
#include "domain/inventory/host.h"
#include "domain/inventory/host_life.h"
#include "domain/labels.h"
#include "domain/object.h"
#include "domain/scheduler/wishes.h"

namespace hostler {

struct Host {
    std::string id;  // "h-…", as in its certificate.
    std::string zone;
    std::string owner;  // Who brought it; empty: the operator.
    std::string key;  // SHA-256 of the public key that it joined with, hex: no other is ever certified as it.
    HostPhase phase = HostPhase::joining;
    bool cordoned = false;
    std::string message;                     // Why it is not ready.
    std::string boot_id;                     // Of its last boot,
    std::vector<std::string> earlier_boots;  // and of those before, the newest last.
    std::string quarantined;                 // Why nothing it says is believed; empty: it is.
    std::string engine;                      // "podman 4.3.1"; empty: none answers,
    std::string engine_error;                // and why.
    std::string agent_version;
    HostFacts facts;
    std::map<std::string, GpuState> gpu_states;  // By UUID; not in it: nothing speaks against it.
    std::int64_t joined_at = 0;
    std::uint64_t order = 0;     // Among all that have said what they are: who said it first has the lowest.
    std::string rack;            // Empty: in none that is known.
    Labels labels;               // As the operator gave them.
    std::optional<Trust> trust;  // As the operator said; nullopt: by whose it is.
    HostAdmission admission;
    std::vector<AccessSpeed> network;  // Its ways to access points.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Host, (),
                      (id, zone, owner, key, phase, cordoned, message, boot_id, earlier_boots, quarantined,
                       engine, engine_error, agent_version, facts, gpu_states, joined_at, order, rack, labels,
                       trust, admission, network))

// Whether it has ever said what it is.
inline bool has_spoken(const Host& host) { return host.facts.cpus > 0 || !host.facts.gpus.empty(); }

inline Trust trust_of(const Host& host) {
    return host.trust.value_or(host.owner.empty() ? Trust::trusted : Trust::community);
}

// A one-time permission to join.
struct HostToken {
    std::string id;    // "t-…"
    std::string hash;  // SHA-256 of its secret.
    std::string zone;
    std::string owner;
    std::int64_t created_at = 0;
    std::int64_t expires_at = 0;
    std::int64_t used_at = 0;
    std::string host;         // Who used it; empty: nobody so far.
    std::string csr_digest;   // Of the request it was used with: the same again gets the same answer.
    std::string certificate;  // That answer.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(HostToken, (),
                      (id, hash, zone, owner, created_at, expires_at, used_at, host, csr_digest, certificate))

}  // namespace hostler
