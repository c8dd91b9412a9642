#include "core/server_names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "core/ip_address.h"

namespace hostler {

namespace {

constexpr std::size_t name_size_max = 253, label_size_max = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_label(std::string_view label) {
    return !label.empty() && label.size() <= label_size_max && !label.starts_with('-') &&
           !label.ends_with('-') && std::ranges::all_of(label, [](char c) {
               return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-';
           });
}

// No top-level domain is a number: with a number at its end it is an address, which clients look for
// elsewhere.
bool is_host_name(std::string_view name) {
    if (name.starts_with("*.")) name.remove_prefix(2);
    if (name.empty() || name.size() > name_size_max) return false;
    std::string_view last;
    for (const auto label : std::views::split(name, '.')) {
        last = std::string_view{label};
        if (!is_label(last)) return false;
    }
    return !std::ranges::all_of(last, is_digit);
}

void add_once(std::vector<std::string>& to, std::string one) {
    if (std::ranges::count(to, one) == 0) to.push_back(std::move(one));
}

}  // namespace

Result<ServerNames> checked(const ServerNames& names) {
    ServerNames good;
    std::vector<std::string> wrong;
    for (const std::string& name : names.dns) {
        if (is_host_name(name))
            add_once(good.dns, name);
        else
            wrong.push_back(fmt::format("'{}' is no host name that a certificate can have", name));
    }
    for (const std::string& text : names.addresses) {
        if (const auto address = parse_ip(text))
            add_once(good.addresses, address->bare_text());
        else
            wrong.push_back(fmt::format("'{}' is no IP address", text));
    }
    if (!wrong.empty()) return fail(Code::invalid, fmt::format("{}", fmt::join(wrong, "; ")));
    if (const auto count = good.dns.size() + good.addresses.size(); count > server_names_max)
        return fail(Code::invalid, fmt::format("{} names and addresses; a certificate has {} at most", count,
                                               server_names_max));
    return good;
}

}  // namespace hostler
