// Finding what a request names, and not telling one tenant about another's.
#pragma once

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// By id, or by the caller's name for it. To a tenant's key, another tenant's instance does not exist. Errors:
// not_found, forbidden (tenant_differs), conflict (ambiguous: an operator named what two tenants have).
Result<const Instance*> instance_named(const Desk& desk, const api::Call& call, const std::string& name,
                                       const std::optional<std::string>& tenant);
Result<const Volume*> volume_named(const Desk& desk, const api::Call& call, const std::string& name,
                                   const std::optional<std::string>& tenant);
Result<const Network*> network_named(const Desk& desk, const api::Call& call, const std::string& name,
                                     const std::optional<std::string>& tenant);
Result<const Secret*> secret_named(const Desk& desk, const api::Call& call, const std::string& name,
                                   const std::optional<std::string>& tenant);
Result<const Project*> project_named(const Desk& desk, const api::Call& call, const std::string& name,
                                     const std::optional<std::string>& tenant);
Result<const Host*> host_named(const Desk& desk, const std::string& name);
// Of a field whose form was checked; without one all labels will do.
LabelFilter filter_of(const std::optional<std::string>& label);

}  // namespace hostler::master
