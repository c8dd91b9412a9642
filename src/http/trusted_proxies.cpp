#include "http/trusted_proxies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

namespace hostler::http {

namespace {

std::string_view known_scheme(std::string_view text) {
    for (const std::string_view scheme : {"http", "https"})
        if (same_name(text, scheme)) return scheme;
    return {};
}

// What stands between separators outside of quoted strings: RFC 9110 section 5.6.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    bool quoted = false;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        if (at < text.size() && quoted && text[at] == '\\') {
            ++at;
        } else if (at < text.size() && text[at] == '"') {
            quoted = !quoted;
        } else if (at >= text.size() || (text[at] == separator && !quoted)) {
            parts.push_back(trimmed(text.substr(begin, at - begin)));
            begin = at + 1;
        }
    }
    return parts;
}

std::string_view unquoted(std::string_view text) {
    const bool quoted = text.size() >= 2 && text.starts_with('"') && text.ends_with('"');
    return quoted ? text.substr(1, text.size() - 2) : text;
}

struct Hop {
    std::string_view from;
    std::string_view scheme;
};

// In the order in which proxies added them.
std::vector<Hop> forwarded_hops(const Head& head) {
    std::vector<Hop> hops;
    for (const auto& [name, value] : head.fields) {
        if (!same_name(name, "Forwarded")) continue;
        for (const auto element : parts_of(value, ',')) {
            Hop& hop = hops.emplace_back();
            for (const auto pair : parts_of(element, ';')) {
                const auto equals = std::min(pair.find('='), pair.size());
                const auto given = unquoted(pair.substr(std::min(equals + 1, pair.size())));
                if (same_name(pair.substr(0, equals), "for")) hop.from = given;
                if (same_name(pair.substr(0, equals), "proto")) hop.scheme = known_scheme(given);
            }
        }
    }
    return hops;
}

std::vector<Hop> x_forwarded_hops(const Head& head) {
    std::vector<Hop> hops;
    std::string_view scheme;  // The last one is of the proxy that we hear.
    for (const auto& [name, value] : head.fields) {
        if (same_name(name, "X-Forwarded-For"))
            for (const auto from : parts_of(value, ',')) hops.push_back({from, {}});
        if (same_name(name, "X-Forwarded-Proto")) scheme = known_scheme(parts_of(value, ',').back());
    }
    if (hops.empty()) hops.emplace_back();
    for (Hop& hop : hops) hop.scheme = scheme;
    return hops;
}

}  // namespace

Result<TrustedProxies> TrustedProxies::parse(const std::vector<std::string>& networks, ProxyWord word) {
    TrustedProxies proxies{word};
    std::vector<std::string> wrong;
    for (const auto& text : networks) {
        const auto network = parse_ip_range(text);
        if (network)
            proxies.networks_.push_back(*network);
        else
            wrong.push_back(network.error().message);
    }
    if (!wrong.empty()) return fail(Code::invalid, fmt::format("{}", fmt::join(wrong, "; ")));
    return proxies;
}

bool TrustedProxies::hold(const IpAddress& address) const {
    return std::ranges::any_of(networks_, [&](const IpRange& one) { return one.contains(address); });
}

bool TrustedProxies::hold(std::string_view address) const {
    const auto parsed = ip_in(address);
    return parsed && hold(*parsed);
}

Origin TrustedProxies::origin_of(const Head& head, std::string_view proxy) const {
    Origin origin;
    const auto own = ip_in(proxy);
    origin.address = own ? own->text() : std::string{proxy};
    if (word_ == ProxyWord::proxy_protocol) return origin;
    for (const Hop& hop : (word_ == ProxyWord::forwarded ? forwarded_hops(head) : x_forwarded_hops(head)) |
                              std::views::reverse) {
        if (!hop.scheme.empty()) origin.scheme = hop.scheme;
        const auto from = ip_in(hop.from);
        if (!from) break;  // Not known, or hidden: the proxy that says so answers for it.
        origin.address = from->text();
        if (!hold(*from)) break;
    }
    return origin;
}

}  // namespace hostler::http
