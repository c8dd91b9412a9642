// The labels of a report's lines in the order in which they were asked for.
#pragma once

#include <ranges>

#include "domain/report/report.h"

namespace hostler::report {

inline std::vector<std::string> label_order(const Report& report) {
    std::vector<std::string> names;
    for (const auto word : std::views::split(report.by, ','))
        if (!word.empty()) names.emplace_back(word.begin(), word.end());
    return names;
}

inline const std::string& label_in(const Labels& labels, const std::string& name) {
    static const std::string none;
    const auto at = labels.find(name);
    return at == labels.end() ? none : at->second;
}

}  // namespace hostler::report
