// Host names, origins and paths: which instance a request means, and whether the page that sent it is of the
// same origin.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hostler::gateway {

inline constexpr std::size_t host_name_max = 253;

// "Name.Domain.:8443" → name "name.domain", port "8443".
struct HostPort {
    std::string name;  // In lower case, without a trailing dot; an IPv6 address keeps its brackets.
    std::string port;  // "" when not given.
    bool operator==(const HostPort&) const = default;
};
// nullopt: not a host and port (userinfo, spaces, a port that is no number).
std::optional<HostPort> host_of(std::string_view host_header);

// What stands before ".domain": one label, or nullopt.
std::optional<std::string_view> label_below(std::string_view name, std::string_view domain);

// Is `origin` (an Origin header) the origin at which `host` was asked?
bool same_origin(std::string_view origin, std::string_view scheme, const HostPort& host);

// Paths of ours on an instance's origin, which never reach it, however they are spelled (percent-encoding,
// "//",
// "/./", "/x/..").
bool is_own_path(std::string_view path);

// `to` when it leads to a path of the same origin, else "/": a link may not send people elsewhere.
std::string safe_path(std::string_view to);

std::string percent_decoded(std::string_view text);  // What is not "%hh" stays as it is.
// The decoded value of `name` in "a=1&b=2"; nullopt when it is not there.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace hostler::gateway
