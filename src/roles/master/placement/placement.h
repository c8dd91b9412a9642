// Where a tenant's tasks would go.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Call;
struct ExplainPlacement;
struct PlacementAnswer;
}  // namespace hostler::api

namespace hostler::master {

// Where these tasks would go now; nothing is held. Errors: invalid (spec, zone, host, profile unknown;
// no_price_list), forbidden (tenant_differs, operator_only).
Result<api::PlacementAnswer> explain_placement(const Desk& desk, const api::Call& call,
                                               const api::ExplainPlacement& request);

}  // namespace hostler::master
