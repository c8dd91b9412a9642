#include "api/series_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "api/schema.h"
#include "api/types_series.h"

namespace hostler::api {

namespace {

template <class Enum>
struct Word {
    std::string_view text;
    Enum value;
};

using series::Across;
using series::Over;
constexpr Word<Over> overs[] = {
    {"avg", Over::avg},   {"min", Over::min},           {"max", Over::max},
    {"last", Over::last}, {"sum", Over::sum},           {"count", Over::count},
    {"rate", Over::rate}, {"increase", Over::increase}, {"quantile", Over::quantile}};
constexpr Word<Across> acrosses[] = {
    {"none", Across::none}, {"avg", Across::avg},     {"sum", Across::sum},          {"min", Across::min},
    {"max", Across::max},   {"count", Across::count}, {"quantile", Across::quantile}};

template <class Enum, std::size_t n>
Result<std::pair<Enum, double>> read(std::string_view text, const Word<Enum> (&words)[n]) {
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const auto found = std::ranges::find(words, name, &Word<Enum>::text);
    if (found == std::end(words)) {
        std::string all;
        for (const auto& word : words) all += fmt::format("{}{}", all.empty() ? "" : ", ", word.text);
        return fail(Code::invalid, fmt::format("'{}' is none of {}", name, all));
    }
    if (name != "quantile") {
        if (equals != text.npos) return fail(Code::invalid, fmt::format("{} takes no number", name));
        return std::pair{found->value, 0.5};
    }
    double at = -1;
    const std::string_view number = equals == text.npos ? "" : text.substr(equals + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), at);
    if (error != std::errc{} || end != number.data() + number.size() || !(at >= 0 && at <= 1))
        return fail(Code::invalid, "a quantile is a number from 0 to 1: quantile=0.95");
    return std::pair{found->value, at};
}

}  // namespace

Result<SeriesOver> over_of(std::string_view text) {
    if (text.empty()) return SeriesOver{};
    const auto [over, quantile] = TRY(read(text, overs));
    return SeriesOver{over, quantile};
}

Result<SeriesAcross> across_of(std::string_view text) {
    if (text.empty()) return SeriesAcross{};
    const auto [across, quantile] = TRY(read(text, acrosses));
    return SeriesAcross{across, quantile};
}

std::unexpected<Error> unknown_label(std::string_view label, const std::vector<std::string_view>& more) {
    std::vector<std::string_view> all = more, near;
    for (const QueryField& field : series_labels) all.push_back(field.name);
    for (const std::string_view one : all)
        if (!label.empty() && (one.starts_with(label) || label.starts_with(one))) near.push_back(one);
    const auto meant = nearest(label, all);
    std::erase(near, meant);
    if (!meant.empty()) near.insert(near.begin(), meant);
    return fail(Code::invalid, near.empty() ? fmt::format("there is no label '{}'; there are {}", label,
                                                          fmt::join(all, ", "))
                                            : fmt::format("there is no label '{}'; did you mean '{}'?", label,
                                                          fmt::join(near, "' or '")));
}

Result<std::vector<std::string>> labels_of(std::string_view text) {
    std::vector<std::string> labels;
    while (!text.empty()) {
        const auto comma = text.find(',');
        const std::string_view label = text.substr(0, comma);
        text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
        if (std::ranges::find(series_labels, label, &QueryField::name) == series_labels.end())
            return unknown_label(label);
        if (std::ranges::find(labels, label) != labels.end())
            return fail(Code::invalid, fmt::format("'{}' stands there twice", label));
        labels.emplace_back(label);
    }
    return labels;
}

}  // namespace hostler::api
