// Policies of the cloud and of tenants: how they are set, and what they refuse. They count for what is
// created, started and tried again from then on, and stop nothing that runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "domain/policy/check.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Explanation;
struct Policy;
struct ReplacePolicy;
}  // namespace hostler::api

namespace hostler::master {

// ── What binds a tenant

// Of a tenant; of the cloud alone where `tenant` is empty.
Policies policies_of(const Desk& desk, const std::string& tenant);

// Errors: forbidden (policy_denied) with each field that is refused, by whose rule, and who changes that.
Result<> check_allowed(const Desk& desk, const std::string& tenant, const PolicyRequest& request);
Result<> check_share_link(const Desk& desk, const std::string& tenant);
// A volume that is to lie in this zone; empty: where its first instance runs.
Result<> check_volume_zone(const Desk& desk, const std::string& tenant, const std::string& zone);

// ── Instances

// Which field of the request says a port: "template.ports[0]", "ports[0]".
enum class PortFields { of_creation, of_change };
// All that it asks for. `zone`: where its volumes lie, or where it is to go; empty: anywhere.
PolicyRequest request_of(const Instance& instance, const std::string& zone,
                         PortFields fields = PortFields::of_change);
// Checks an instance before it starts, and sets the longest allowed run if it has no limit. Errors: forbidden
// (policy_denied).
Result<> admit(const Desk& desk, Instance& instance, const std::string& zone,
               PortFields fields = PortFields::of_change);
// Checks a changed instance: only the changed values count. Errors: forbidden (policy_denied).
Result<> admit_container(const Desk& desk, const Instance& before, const InstanceSpec& wanted);
Result<> admit_schedule(const Desk& desk, const Instance& before, StopSchedule& wanted);
// Nothing keeps it beyond the longest run. Errors: forbidden (policy_denied).
Result<> check_kept_until(const Desk& desk, const Instance& instance, std::int64_t until);
// Why it could not start now; nullopt: no policy keeps it from that.
std::optional<Error> start_refused(const Desk& desk, const Instance& instance, const std::string& zone);

// What to say beside a refusal of the scheduler: " The cloud's policy allows only zones nj."; empty: nothing.
std::string narrowing_sentence(const Desk& desk, const std::string& tenant);

// ── The rows

// Sets all rules of it. Errors: invalid (unknown zones and specs), conflict (version_differs), not_found
// (tenant_not_found).
Result<const Policy*> set_policy(Desk& desk, const api::ReplacePolicy& request, const std::string& tenant);
void drop_policy(Desk& desk, const std::string& id);

api::Policy view(const Policy& policy);

}  // namespace hostler::master
