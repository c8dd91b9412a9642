#include "roles/master/changes/term_mark.h"

#include <fmt/format.h>

#include <charconv>

namespace hostler::master {

std::string TermMark::text() const { return fmt::format("{}-{}", epoch, number); }

std::optional<TermMark> parse_term_mark(std::string_view text) {
    TermMark mark;
    const char* const end = text.data() + text.size();
    const auto epoch = std::from_chars(text.data(), end, mark.epoch);
    if (epoch.ec != std::errc{} || epoch.ptr == end || *epoch.ptr != '-') return std::nullopt;
    const auto number = std::from_chars(epoch.ptr + 1, end, mark.number);
    if (number.ec != std::errc{} || number.ptr != end) return std::nullopt;
    return mark;
}

}  // namespace hostler::master
