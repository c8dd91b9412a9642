#include "api/schema.h"

#include <fmt/format.h>

#include <numeric>

namespace hostler::api {

const Property* Schema::find(std::string_view property) const {
    const auto found = std::find_if(properties.begin(), properties.end(),
                                    [&](const Property& p) { return p.name == property; });
    return found == properties.end() ? nullptr : &*found;
}

std::string json_name(std::string_view member) {
    while (member.ends_with('_')) member.remove_suffix(1);
    std::string name;
    bool upper = false;
    for (std::size_t i = 0; i < member.size(); ++i) {
        if (member[i] == '_') {
            upper = true;
        } else if (upper && member.substr(i) == "id") {
            return name + "ID";  // As the source spells instanceID.
        } else {
            const bool raise = std::exchange(upper, false) && member[i] >= 'a' && member[i] <= 'z';
            name += raise ? static_cast<char>(member[i] - 'a' + 'A') : member[i];
        }
    }
    return name;
}

namespace {

char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Edits (insert, leave out, replace, swap neighbours) from one to the other, letters' case aside.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> row(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) row[i][0] = i;
    std::iota(row[0].begin(), row[0].end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = folded(a[i - 1]) == folded(b[j - 1]);
            row[i][j] = std::min({row[i - 1][j] + 1, row[i][j - 1] + 1, row[i - 1][j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                folded(a[i - 2]) == folded(b[j - 1]))
                row[i][j] = std::min(row[i][j], row[i - 2][j - 2] + 1);
        }
    return row[a.size()][b.size()];
}

}  // namespace

std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates) {
    std::string_view best;
    if (text.size() > 64) return best;
    std::size_t least = 1 + std::max<std::size_t>(1, text.size() / 3);
    for (const auto candidate : candidates) {
        const std::size_t edits = candidate.size() > 64 ? least : distance(text, candidate);
        if (edits < least) {
            least = edits;
            best = candidate;
        }
    }
    return best;
}

std::string wrong_text(std::string_view text, const Field* field) {
    const auto length = static_cast<std::int64_t>(text.size());
    const std::int64_t least = field && field->min ? *field->min : 0;
    const std::int64_t most = field && field->max ? *field->max : text_max;
    if (length < least)
        return least == 1 ? "must not be empty" : fmt::format("must have at least {} characters", least);
    if (length > most) return fmt::format("must have at most {} characters", most);
    if (text.contains('\0')) return "must not contain a NUL character";
    return field && field->form ? field->form->check(text) : "";
}

std::string wrong_size(std::size_t size, const Field* field) {
    const auto count = static_cast<std::int64_t>(size);
    const std::int64_t least = field && field->min ? *field->min : 0;
    const std::int64_t most = field && field->max ? *field->max : list_max;
    if (count < least) return fmt::format("must have at least {} entries", least);
    if (count > most) return fmt::format("must have at most {} entries", most);
    return "";
}

std::string wrong_number(double number, const Field* field) {
    if (!field) return "";
    const bool low = field->min && number < static_cast<double>(*field->min);
    const bool high = field->max && number > static_cast<double>(*field->max);
    if (!low && !high) return "";
    if (field->min && field->max) return fmt::format("must be between {} and {}", *field->min, *field->max);
    return low ? fmt::format("must be at least {}", *field->min)
               : fmt::format("must be at most {}", *field->max);
}

}  // namespace hostler::api
