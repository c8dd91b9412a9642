// Secrets of projects: how many, who uses them, and what an instance is given when it starts.
#pragma once

#include <map>

#include "core/metrics.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateInstance;
struct CreateSecret;
struct Instance;
struct Secret;
struct UpdateSecret;
}  // namespace hostler::api

namespace hostler::master {

inline constexpr std::size_t secrets_tenant_max = 256;                // Of one tenant,
inline constexpr std::size_t secret_bytes_tenant_max = 1 << 20;       // and bytes of their values.
inline constexpr std::size_t secret_keys_max = 64;                    // Of one secret.
inline constexpr std::size_t instance_secret_bytes_max = 512 * 1024;  // That one instance is given.

// Errors: conflict (secret_exists, registry_secret_exists), invalid, exhausted (quota_exceeded).
Result<const Secret*> create_secret(Desk& desk, const api::CreateSecret& request, const std::string& tenant);
// Errors: invalid, conflict (secret_in_use: a key that an instance is given), exhausted.
Result<> update_secret(Desk& desk, const std::string& id, const api::UpdateSecret& request);
// Errors: conflict (secret_in_use).
Result<> delete_secret(Desk& desk, const std::string& id);

// By the tenant's name for it; nullptr: there is none.
const Secret* find_secret(const Desk& desk, const std::string& tenant, std::string_view name);
// The login that its image is pulled with; nullptr: none.
const Secret* login_for(const Desk& desk, const Instance& instance);
// Ids of the instances that use it and have not ended.
std::vector<std::string> users_of(const Desk& desk, const Secret& secret);
// The same for all secrets, by tenant and name: one pass over the instances for a whole list.
using SecretUsers = std::map<std::pair<std::string_view, std::string_view>, std::vector<std::string>>;
SecretUsers users_of_secrets(const Desk& desk, std::string_view tenant);

// What the request is to be given; wrong fields are added to `wrong`.
std::vector<InstanceSecret> secrets_of(const Desk& desk, const api::CreateInstance& request,
                                       std::vector<FieldError>& wrong);
// Whether all that it is to be given is there. Errors: conflict (secret_missing), invalid
// (instance_secret_bytes_max).
Result<> check_secrets(const Desk& desk, const Instance& instance);

// One value where an instance finds it.
struct GivenSecret {
    std::string variable, path;
    const SecretValue* value = nullptr;
};
// nullopt: something is missing.
std::optional<std::vector<GivenSecret>> given_secrets(const Desk& desk, const Instance& instance);
// Whether it starts only where an agent keeps what it is given out of its journal.
bool needs_secrets(const Desk& desk, const Instance& instance);

void write_secret_metrics(MetricsPage& page, const Desk& desk);

api::Secret view(const Secret& secret, std::vector<std::string> used_by);
void show_secrets(const Instance& instance, api::Instance& shown);

}  // namespace hostler::master
