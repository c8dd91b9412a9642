// What a narrowed API key may still do.
#pragma once

#include <string_view>
#include <vector>

#include "domain/tenancy/key.h"
#include "domain/tenancy/permission.h"
#include "domain/tenancy/principal.h"

namespace hostler {

// The permissions that it may hold at most: those of its account that are not among these it does not have.
Permissions narrowed(const ApiKey& key);
// Of what its account holds: what the key holds. A key for some projects holds nothing at wider scopes.
std::vector<Held> narrowed(const std::vector<Held>& held, const ApiKey& key);
// Whether it may be used from `address`, as streams write it, with or without a port. An address that cannot
// be read is none of its ranges.
bool is_for_address(const ApiKey& key, std::string_view address);

}  // namespace hostler
