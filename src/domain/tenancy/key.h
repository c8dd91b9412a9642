// API keys: who asks, and what for. The secret itself is nowhere, only its hash.
#pragma once

#include <boost/describe.hpp>
#include <string>

#include "domain/object.h"

namespace hostler {

struct ApiKey {
    std::string id;             // "k-…"
    std::string name;
    std::string hash;           // SHA-256 of the secret (256 random bits), hex.
    std::string tenant;         // Empty: the operator's.
    std::int64_t created_at = 0;
    std::int64_t expires_at = 0;   // 0: never.
    std::int64_t revoked_at = 0;   // 0: valid.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(ApiKey, (), (id, name, hash, tenant, created_at, expires_at, revoked_at))

}  // namespace hostler
