// What a claim holds, as quotas count it.
#pragma once

#include <string>

#include "domain/inventory/claim.h"
#include "domain/quota/check.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Models are those that the claim says; of a claim of an older release those that its host says.
Amounts amounts_of(const Desk& desk, const Claim& claim);
// "gpus:h100 sxm5 80gb"
std::string gpu_class(const std::string& model);

}  // namespace hostler::master
