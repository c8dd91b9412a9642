// Specs: what an instance is made of.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateSpec;
struct UpdateSpec;
}  // namespace hostler::api

namespace hostler::master {

// Errors: not_found (spec_not_found).
Result<const Spec*> spec_named(const Desk& desk, const std::string& name);

// As it would be, and not there yet. Errors: invalid.
Result<Spec> new_spec(const Desk& desk, const api::CreateSpec& request);
void add_spec(Desk& desk, Spec spec);

// The same again is the one that there is. Errors: conflict (spec_differs), invalid.
Result<const Spec*> create_spec(Desk& desk, const api::CreateSpec& request);

// What it is made of changes only while nothing is made of it. Errors: not_found, conflict (spec_in_use),
// invalid.
Result<const Spec*> update_spec(Desk& desk, const api::UpdateSpec& request);
Result<> delete_spec(Desk& desk, const std::string& name);

}  // namespace hostler::master
