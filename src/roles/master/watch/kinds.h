// The kinds of which the stream of changes tells, made from kinds.def.
#pragma once

#include <span>
#include <string_view>

#include "domain/tenancy/permission.h"

namespace hostler::master {

// Kinds that a watch tells of, in the order of kinds.def; `stored`: as the store calls the rows.
struct ShownKind {
    std::string_view word;
    std::string_view stored;
    Permission permission;
};
std::span<const ShownKind> shown_kinds();
// Kinds of rows that it does not tell of, and why.
struct HiddenKind {
    std::string_view stored;
    std::string_view why;
};
std::span<const HiddenKind> hidden_kinds();

}  // namespace hostler::master
