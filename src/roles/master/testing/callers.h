// For tests: who calls.
#pragma once

#include "api/handlers.h"

namespace hostler::master {

// Of a tenant's key; of the operator's, without a tenant.
inline api::Caller caller_for(const std::string& tenant) {
    return tenant.empty() ? api::Caller::of_operator("key/operator")
                          : api::Caller::of_tenant("key/" + tenant, tenant);
}

}  // namespace hostler::master
