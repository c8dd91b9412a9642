#include "ports/leftover_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler {

// When what follows a '*' does not fit, the '*' takes one character more: no pattern takes longer than the
// product of both lengths.
bool fits_pattern(std::string_view pattern, std::string_view name) {
    std::size_t at = 0, of = 0, star = pattern.npos, taken = 0;
    while (at < name.size()) {
        if (of < pattern.size() && pattern[of] == '*') {
            star = of++;
            taken = at;
        } else if (of < pattern.size() && pattern[of] == name[at]) {
            ++of, ++at;
        } else if (star != pattern.npos) {
            of = star + 1;
            at = ++taken;
        } else {
            return false;
        }
    }
    while (of < pattern.size() && pattern[of] == '*') ++of;
    return of == pattern.size();
}

bool fits_any(std::span<const std::string> patterns, std::string_view name) {
    return std::ranges::any_of(patterns, [name](std::string_view one) { return fits_pattern(one, name); });
}

void LeftoverList::add(std::string kind, std::string name) {
    auto& names = names_[kind];
    if (names.size() < of_a_kind_max)
        names.insert(std::move(name));
    else if (!names.contains(name))
        ++more_[kind];
}

std::vector<Leftover> LeftoverList::sorted() const {
    std::vector<Leftover> all;
    for (const auto& [kind, names] : names_)
        for (const std::string& name : names) all.push_back({kind, name});
    std::ranges::sort(all);
    for (const auto& [kind, count] : more_) {
        const auto end = std::ranges::upper_bound(all, kind, {}, &Leftover::kind);
        all.insert(end, {kind, fmt::format("and {} more", count)});
    }
    return all;
}

}  // namespace hostler
