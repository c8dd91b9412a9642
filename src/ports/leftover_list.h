// What is found of a cluster on a host: a bounded list.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ports/node_steps.h"

namespace hostler {

// Whether a pattern fits a whole name; '*' stands for any characters, also for none.
bool fits_pattern(std::string_view pattern, std::string_view name);
bool fits_any(std::span<const std::string> patterns, std::string_view name);

// Of each kind the first that were added; how many more there were is its last line.
class LeftoverList {
public:
    static constexpr std::size_t of_a_kind_max = 64;
    void add(std::string kind, std::string name);  // The same again counts once, while it is in the list.
    std::vector<Leftover> sorted() const;

private:
    std::map<std::string, std::set<std::string>> names_;
    std::map<std::string, std::uint64_t> more_;
};

}  // namespace hostler
