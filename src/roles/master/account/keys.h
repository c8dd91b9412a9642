// Keys of service accounts: what they are narrowed to, and how they are followed and switched off.
#pragma once

#include <string>

#include "api/handlers.h"
#include "ports/digest.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct AccountKey;
struct CreateAccountKey;
}  // namespace hostler::api

namespace hostler::master {

api::AccountKey account_key_view(const ApiKey& key);

struct MadeKey {
    const ApiKey* key;
    std::string secret;
};
// Nobody has the secret of a key that may do more than they. Errors: forbidden (key_exceeds).
Result<> check_within(const Desk& desk, const api::Call& call, const ApiKey& key);
// Errors: invalid, with every wrong field; forbidden (key_exceeds), exhausted (quota_exceeded).
Result<MadeKey> make_account_key(Desk& desk, const api::Call& call, const ServiceAccount& account,
                                 const api::CreateAccountKey& request, const Digest& digest);
// Another key with the same limits; the old one ends within `grace_s`. Errors: conflict (key_disabled),
// forbidden (key_exceeds), exhausted (quota_exceeded).
Result<MadeKey> rotate_key(Desk& desk, const api::Call& call, const std::string& id, std::int64_t grace_s,
                           const Digest& digest);
void disable_key(Desk& desk, const std::string& id);
void enable_key(Desk& desk, const std::string& id);

}  // namespace hostler::master
