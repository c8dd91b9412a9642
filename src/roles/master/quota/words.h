// Quotas in the words of people.
#pragma once

#include <string>

#include "domain/quota/quota.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// "tenant acme", "project lab of tenant acme", "user ann@example.com in tenant acme".
std::string words_of(const Desk& desk, const Quota& quota);
// "--tenant acme --project lab"
std::string flags_of(const Quota& quota);

}  // namespace hostler::master
