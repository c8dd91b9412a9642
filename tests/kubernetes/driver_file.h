// A driver of Kubernetes as its file has it.
#pragma once

#include <string>

#include "core/result.h"
#include "domain/cluster/driver.h"

namespace hostler::kube {

// Reads FOLDER/driver.toml and checks it. Errors: invalid, with all that is wrong in it, not_found.
Result<Driver> read_driver(const std::string& folder);

}  // namespace hostler::kube
