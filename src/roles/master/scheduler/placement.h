// Where a tenant's tasks may go: what is said in the API as the scheduler takes it, and back.
#pragma once

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct ExplainPlacement;
struct Placement;
struct PlacementAnswer;
struct UpdateHost;
struct UpdateZone;
}  // namespace hostler::api

namespace hostler::master {

// Zones, hosts and places are looked up; `path` stands before each wrong field, as "placement.".
Wishes wishes_of(const Desk& desk, const api::Placement& asked, std::string_view path,
                 std::vector<FieldError>& wrong);
api::Placement shown_as(const Wishes& wishes);

// What one leaves open the other says.
api::Placement filled_with(api::Placement asked, const api::Placement& otherwise);

// Hosts are for operators to name. Errors: forbidden (operator_only).
Result<> may_ask(const api::Caller& caller, const api::Placement& asked);

// Where these tasks would go now; nothing is held. Errors: invalid (spec, zone, host, profile unknown;
// no_price_list), forbidden (tenant_differs, operator_only).
Result<api::PlacementAnswer> explain_placement(const Desk& desk, const api::Call& call,
                                               const api::ExplainPlacement& request);

// Where a host stands, what it is like, whether it is trusted; where a zone is. What is not given stays.
// Errors: invalid (too many labels).
Result<> update_host(Desk& desk, const std::string& id, const api::UpdateHost& request);
void update_zone(Desk& desk, const std::string& name, const api::UpdateZone& request);

// Errors: invalid. The code is no_price_list where nothing but a price is wrong.
Result<> all_right(std::vector<FieldError> wrong);

}  // namespace hostler::master
