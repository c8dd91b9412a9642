// Whom a key belongs to.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct Whoami {
    std::string actor;
    std::string name;
    bool is_operator = false;
    std::string tenant_id;
    std::optional<WallTime> expires_at{};
    std::string version;
    bool simulated = false;
};
BOOST_DESCRIBE_STRUCT(Whoami, (), (actor, name, is_operator, tenant_id, expires_at, version, simulated))
template <>
inline constexpr auto fields<Whoami> = std::to_array<Field>({
    {.member = "actor", .help = "How events name the caller.", .example = "key/k-9r4t1b"},
    {.member = "name", .help = "Purpose of the key.", .example = "ci"},
    {.member = "is_operator", .help = "The key may do everything."},
    {.member = "tenant_id", .help = "The tenant the key is bound to; empty: an operator's.",
     .example = "acme"},
    {.member = "expires_at", .help = "When the key ends; absent: never."},
    {.member = "version", .help = "The release that answers.", .example = "0.1.0"},
    {.member = "simulated", .help = "Some host has GPUs that are made up: this is a demonstration."},
});

}  // namespace hostler::api
