#include "domain/labels.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler {

namespace {

constexpr std::size_t part_max = 63, prefix_max = 253;

constexpr bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
constexpr bool is_alnum(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

bool is_part(std::string_view text) {
    return !text.empty() && text.size() <= part_max && is_alnum(text.front()) && is_alnum(text.back()) &&
           std::ranges::all_of(text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_name(std::string_view text) {
    if (text.size() > prefix_max) return false;
    while (true) {
        const std::string_view step = text.substr(0, text.find('.'));
        if (step.empty() || step.size() > part_max || step.front() == '-' || step.back() == '-' ||
            !std::ranges::all_of(step, [](char c) { return is_lower_or_digit(c) || c == '-'; }))
            return false;
        if (step.size() == text.size()) return true;
        text.remove_prefix(step.size() + 1);
    }
}

}  // namespace

std::string wrong_label_name(std::string_view name) {
    const auto slash = name.find('/');
    if (slash != name.npos && !is_dns_name(name.substr(0, slash)))
        return "the part before '/' must be a DNS name: lower-case letters, digits, '-' and '.'";
    if (!is_part(slash == name.npos ? name : name.substr(slash + 1)))
        return "a label's name has 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both "
               "ends";
    return "";
}

std::string wrong_label_value(std::string_view value) {
    if (value.empty() || is_part(value)) return "";
    return "a label's value has at most 63 letters, digits, '-', '_' or '.', with a letter or digit at both "
           "ends";
}

Labels with_changes(Labels labels, const Labels& changes) {
    for (const auto& [name, value] : changes) {
        if (value.empty())
            labels.erase(name);
        else
            labels[name] = value;
    }
    return labels;
}

bool LabelFilter::fits(const Labels& labels) const {
    return std::ranges::all_of(terms, [&](const Term& term) {
        const auto found = labels.find(term.name);
        return found != labels.end() && (!term.value || found->second == *term.value);
    });
}

Result<LabelFilter> parse_label_filter(std::string_view text) {
    LabelFilter filter;
    while (true) {
        const std::string_view term = text.substr(0, text.find(','));
        const auto equals = term.find('=');
        const std::string_view name = term.substr(0, equals);
        if (const auto wrong = wrong_label_name(name); !wrong.empty())
            return fail(Code::invalid, fmt::format("'{}' is neither NAME=VALUE nor NAME: {}", term, wrong));
        LabelFilter::Term& added = filter.terms.emplace_back(std::string{name}, std::nullopt);
        if (equals != term.npos) {
            added.value = term.substr(equals + 1);
            if (const auto wrong = wrong_label_value(*added.value); !wrong.empty())
                return fail(Code::invalid, fmt::format("'{}': {}", term, wrong));
        }
        if (filter.terms.size() > labels_max)
            return fail(Code::invalid, fmt::format("at most {} labels", labels_max));
        if (term.size() == text.size()) return filter;
        text.remove_prefix(term.size() + 1);
    }
}

}  // namespace hostler
