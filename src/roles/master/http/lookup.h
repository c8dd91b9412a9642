// Finding what a request names, and not telling one tenant about another's.
#pragma once

#include "api/handlers.h"
#include "roles/master/http/gate.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// By id, or by the caller's name for it. What a caller may not see does not exist to it. Errors: not_found,
// forbidden (tenant_differs, permission_missing), conflict (ambiguous: more than one tenant has what an
// operator names).
Result<const Instance*> instance_named(const Desk& desk, const api::Call& call, const std::string& name,
                                       const std::optional<std::string>& tenant);
Result<const Volume*> volume_named(const Desk& desk, const api::Call& call, const std::string& name,
                                   const std::optional<std::string>& tenant);
Result<const Network*> network_named(const Desk& desk, const api::Call& call, const std::string& name,
                                     const std::optional<std::string>& tenant);
// The one of this name that is not over, else the newest; without a project of all of them. Errors: the same
// (ambiguous: or more than one project has such a job that is not over).
Result<const Job*> job_named(const Desk& desk, const api::Call& call, const std::string& name,
                             const std::optional<std::string>& tenant,
                             const std::optional<std::string>& project = std::nullopt);
// The same of clusters.
Result<const Cluster*> cluster_named(const Desk& desk, const api::Call& call, const std::string& name,
                                     const std::optional<std::string>& tenant,
                                     const std::optional<std::string>& project = std::nullopt);
Result<const Secret*> secret_named(const Desk& desk, const api::Call& call, const std::string& name,
                                   const std::optional<std::string>& tenant);
Scope scope_of(const Tenant& tenant);
Scope scope_of(const Project& project);
Result<const Project*> project_named(const Desk& desk, const api::Call& call, const std::string& name,
                                     const std::optional<std::string>& tenant);
Scope scope_of(const Host& host);  // Its provider's; the cloud's.
// To a provider, another's host does not exist. Errors: not_found; forbidden (permission_missing).
Result<const Host*> host_named(const Desk& desk, const api::Call& call, const std::string& name);
// Of a field whose form was checked; without one all labels will do.
LabelFilter filter_of(const std::optional<std::string>& label);

}  // namespace hostler::master
