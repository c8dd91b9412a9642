#include "domain/billing/money.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler {

namespace {

constexpr std::int64_t unit_micros = 1'000'000;
constexpr std::size_t decimals_max = 6;
constexpr std::size_t digits_max = 10;  // Before the point.

bool are_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<std::int64_t> parse_money(std::string_view text) {
    const auto point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view part = point == text.npos ? "0" : text.substr(point + 1);
    if (!are_digits(whole) || !are_digits(part) || whole.size() > digits_max || part.size() > decimals_max)
        return fail(Code::invalid, "must be a sum such as 2.49, with at most 6 digits behind the point");
    std::int64_t micros = 0;
    for (const char c : whole) micros = micros * 10 + (c - '0');
    for (std::size_t i = 0; i < decimals_max; ++i)
        micros = micros * 10 + (i < part.size() ? part[i] - '0' : 0);
    if (micros > money_max_micros)
        return fail(Code::invalid, fmt::format("must be at most {}", money_max_micros / unit_micros));
    return micros;
}

std::string money_text(std::int64_t micros) {
    std::string text = fmt::format("{}.{:06}", micros / unit_micros, micros % unit_micros);
    const std::size_t shortest = text.size() - 4;
    while (text.size() > shortest && text.back() == '0') text.pop_back();
    return text;
}

bool is_currency(std::string_view text) {
    return text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace hostler
