// For tests: whether what is used, as it is kept beside the estate, is what would be counted of the estate
// alone.
#pragma once

#include <fmt/format.h>

#include "roles/master/quota/usage.h"

namespace hostler::master::testing {

// What is wrong with it; empty: nothing.
inline std::string usage_is_wrong(const Desk& desk) {
    const Usage& now = usage(desk);
    Usage fresh;
    fresh.follow(desk);
    if (now.all() == fresh.all()) return {};
    const auto text = [](const auto& all) {
        std::string words;
        for (const auto& [scope, amounts] : all) {
            const auto& [tenant, project, subject] = scope;
            words += fmt::format("{}/{}/{}:", tenant, project, subject);
            for (const auto& [resource, amount] : amounts) words += fmt::format(" {}={}", resource, amount);
            words += "; ";
        }
        return words;
    };
    return fmt::format("counted is {}used is {}", text(now.all()), text(fresh.all()));
}

}  // namespace hostler::master::testing
