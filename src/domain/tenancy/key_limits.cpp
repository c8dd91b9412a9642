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
    // A narrowed key keeps the permissions that every caller has.
    held = permissions_of_anyone();
    // A name that this release does not know gives nothing.
    for (const std::string& name : key.permissions)
        if (const auto permission = permission_named(name)) held.add(*permission);
    return held;
}

std::vector<Held> narrowed(const std::vector<Held>& held, const ApiKey& key) {
    const Permissions most = narrowed(key);
    std::vector<Held> left;
    for (const Held& one : held) {
        const Permissions both = one.permissions & most;
        if (both.empty()) continue;
        if (key.projects.empty()) {
            left.push_back({one.scope, both});
            continue;
        }
        for (const std::string& project : key.projects)
            if (Scope at = Scope::of_project(key.tenant, project); reaches(one.scope, at))
                left.push_back({std::move(at), both});
    }
    return left;
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
