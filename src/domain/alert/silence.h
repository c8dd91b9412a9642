// What is not to be told for a while, and why.
#pragma once

#include "domain/alert/firing.h"

namespace hostler::alert {

struct Silence {
    std::string id;                     // "si-…"
    std::string tenant;                 // Whose alerts it keeps quiet; empty: all that operators are told.
    std::vector<std::string> matchers;  // As parse_match() takes them; all of them.
    std::string comment;
    std::string made_by;  // "key/k-…"
    std::int64_t created_at = 0;
    std::int64_t until = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Silence, (), (id, tenant, matchers, comment, made_by, created_at, until))

inline constexpr std::size_t silences_max = 2000;        // Of all tenants and the operator,
inline constexpr std::size_t silences_tenant_max = 200;  // and of one of them.

// A tenant's silence is about what that tenant is told, an operator's about what operators are told.
// `told_tenant`: whose receiver it is; empty: an operator's. `labels`: of the alert.
bool silences(const Silence& silence, const std::string& told_tenant, const Labels& labels, std::int64_t now);

}  // namespace hostler::alert
