#include "domain/tenancy/key_limits.h"

#include <algorithm>

#include "core/ip_address.h"

namespace hostler {

Permissions narrowed(const ApiKey& key) {
    Permissions held;
    if (key.permissions.empty()) {
        for (const PermissionRow& row : permissions) held.add(row.permission);
        return held;
    }
    // What everybody has, a narrowed key has, too.
    for (const PermissionRow& row : permissions)
        if (row.level == PermissionLevel::anyone) held.add(row.permission);
    // A name that this release does not know gives nothing.
    for (const std::string& name : key.permissions)
        if (const auto permission = permission_named(name)) held.add(*permission);
    return held;
}

bool is_for_project(const ApiKey& key, std::string_view project) {
    return key.projects.empty() || std::ranges::find(key.projects, project) != key.projects.end();
}

bool is_for_address(const ApiKey& key, std::string_view address) {
    if (key.addresses.empty()) return true;
    const auto from = ip_in(address);
    return from && std::ranges::any_of(key.addresses, [&](const std::string& text) {
               const auto range = parse_ip_range(text);
               return range && range->contains(*from);
           });
}

}  // namespace hostler
