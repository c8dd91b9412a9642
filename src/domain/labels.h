// Labels of instances and hosts: what people say of them, and find them by. Forms are those of Kubernetes.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler {

using Labels = std::map<std::string, std::string>;

inline constexpr std::size_t labels_max = 32;  // Of one object.

// What is wrong with it; empty: nothing. A name is [PREFIX/]NAME: the prefix a DNS name of up to 253
// characters, NAME and a value up to 63 letters, digits, '-', '_' or '.', with a letter or digit at both
// ends. A value may be empty.
std::string wrong_label_name(std::string_view name);
std::string wrong_label_value(std::string_view value);

// `labels` with `changes`: one with an empty value is taken away, those that are not named stay.
Labels with_changes(Labels labels, const Labels& changes);

// What a list is asked for: each of these labels, with this value or with any.
struct LabelFilter {
    struct Term {
        std::string name;
        std::optional<std::string> value;
        bool operator==(const Term&) const = default;
    };
    std::vector<Term> terms;
    bool fits(const Labels& labels) const;
};
// "team=ml,gpu": the label team with the value ml, and the label gpu with any. Errors: invalid.
Result<LabelFilter> parse_label_filter(std::string_view text);

}  // namespace hostler
