#include "domain/alert/match.h"

#include <algorithm>

namespace hostler::alert {

namespace {

bool is_label(std::string_view text) {
    return !text.empty() && text.size() <= 63 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

}  // namespace

Result<series::Match> parse_match(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == text.npos || equals == 0)
        return fail(Code::invalid, "must be LABEL=VALUE or LABEL!=VALUE, with | between several values");
    series::Match match;
    match.differs = text[equals - 1] == '!';
    match.label = text.substr(0, equals - (match.differs ? 1 : 0));
    if (!is_label(match.label)) return fail(Code::invalid, "a label is letters, digits and '_'");
    std::string_view rest = text.substr(equals + 1);
    while (true) {
        const auto bar = rest.find('|');
        match.values.emplace_back(rest.substr(0, bar));
        if (bar == rest.npos) return match;
        rest.remove_prefix(bar + 1);
    }
}

bool matches(const std::vector<std::string>& texts, const Labels& labels) {
    return std::ranges::all_of(texts, [&](const std::string& text) {
        const auto match = parse_match(text);
        if (!match) return false;
        const auto at = labels.find(match->label);
        const std::string value = at == labels.end() ? "" : at->second;
        return (std::ranges::count(match->values, value) > 0) != match->differs;
    });
}

}  // namespace hostler::alert
