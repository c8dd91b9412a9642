// Whether a request is allowed by the policies that bind it, and how they narrow where it may run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/policy/policy.h"

namespace hostler {

// The cloud's and the tenant's; null: there is none. Both apply.
struct Policies {
    const Policy* cloud = nullptr;
    const Policy* tenant = nullptr;
    bool unreadable = false;  // One of them is damaged in the store: nothing is allowed.
};

// A value that a request asks for, and the field that says it.
struct AskedValue {
    std::string field;
    std::string value;
    bool operator==(const AskedValue&) const = default;
};

// All that a request asks; a list is empty where it asks for nothing of the kind.
struct PolicyRequest {
    std::vector<AskedValue> specs, zones, images, public_ports, share_links;
    AskedValue place;        // With a field: it is to get a place in some zone that is allowed.
    AskedValue run;          // With a field: it is to run for so many seconds…
    std::int64_t run_s = 0;  // …0: no longer than what is allowed.
    bool operator==(const PolicyRequest&) const = default;
};

enum class PolicyRule { specs, zones, images, max_run, public_ports, share_links, readable };

// A rule that forbids it.
struct Violation {
    PolicyRule rule = PolicyRule::specs;
    std::string policy;  // Id of the policy that has it; empty: of both together, or of one that is damaged.
    AskedValue asked;
    std::string sentence;  // "the policy of tenant acme allows zones nj, not lon"
};

// All of them, the cloud's first.
std::vector<Violation> violations(const PolicyRequest& request, const Policies& policies);

// The longest time that both allow; 0: there is no limit.
std::int64_t max_run_s(const Policies& policies);
bool allows_public_ports(const Policies& policies);
bool allows_share_links(const Policies& policies);
bool allows_spec(const Policies& policies, std::string_view spec);
bool allows_zone(const Policies& policies, std::string_view zone);
bool allows_trust(const Policies& policies, Trust trust);

// Leaves hosts that both allow. Where these are none, one zone remains that does not exist.
void narrow(Terms& terms, const Policies& policies);
// How narrow() narrows: "the cloud's policy allows zones nj"; empty: not at all.
std::string narrowed_by(const Policies& policies);

// "the cloud's policy", "the policy of tenant acme".
std::string words_for(const Policy& policy);

}  // namespace hostler
