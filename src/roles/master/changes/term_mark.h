// Where a reader of changes stands, as one that comes back says it: EPOCH-NUMBER.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hostler::master {

// Behind this number of this term; numbers of other terms say nothing.
struct TermMark {
    std::uint64_t epoch = 0;
    std::uint64_t number = 0;
    std::string text() const;
};
// nullopt: it is no mark.
std::optional<TermMark> parse_term_mark(std::string_view text);

}  // namespace hostler::master
