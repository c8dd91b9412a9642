#include "http/trusted_proxies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <ranges>

namespace hostler::http {

namespace {

std::string_view known_scheme(std::string_view text) {
    for (const std::string_view scheme : {"http", "https"})
        if (same_name(text, scheme)) return scheme;
    return {};
}

struct Hop {
    std::string_view from;  // Empty: not known.
    std::string_view scheme;
};

// Reads one `Forwarded` field by the grammar of RFC 7239 section 4. A client may begin the field with a quote
// that it never closes: then what the proxy appends must not be taken for a part of the client's element.
class ForwardedField {
public:
    explicit ForwardedField(std::string_view text) : rest_(text) {}

    // In the order in which proxies added them; nullopt: the field is not well formed.
    std::optional<std::vector<Hop>> hops() {
        std::vector<Hop> all;
        Hop hop;
        bool any = false;  // Pairs in this element.
        while (true) {
            skip_blanks();
            if (!rest_.empty() && rest_.front() != ',' && rest_.front() != ';') {
                if (!pair(hop)) return std::nullopt;
                any = true;
                skip_blanks();
            }
            if (rest_.empty() || rest_.front() == ',') {
                if (any) all.push_back(hop);
                hop = {};
                any = false;
            } else if (rest_.front() != ';') {
                return std::nullopt;
            }
            if (rest_.empty()) return all;
            rest_.remove_prefix(1);
        }
    }

private:
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

    bool pair(Hop& hop) {
        const auto equals = rest_.find_first_of("=,;\" \t");
        if (equals == 0 || equals == rest_.npos || rest_[equals] != '=') return false;
        const std::string_view name = rest_.substr(0, equals);
        rest_.remove_prefix(equals + 1);
        const auto value = rest_.starts_with('"') ? quoted() : plain();
        if (!value) return false;
        if (same_name(name, "for")) hop.from = *value;
        if (same_name(name, "proto")) hop.scheme = known_scheme(*value);
        return true;
    }

    // Escapes stay: no address and no scheme needs one.
    std::optional<std::string_view> quoted() {
        for (std::size_t at = 1; at < rest_.size(); ++at) {
            if (rest_[at] == '\\') {
                ++at;
            } else if (rest_[at] == '"') {
                const auto value = rest_.substr(1, at - 1);
                rest_.remove_prefix(at + 1);
                return value;
            }
        }
        return std::nullopt;
    }

    std::optional<std::string_view> plain() {
        const auto value = rest_.substr(0, rest_.find_first_of(",;\" \t"));
        rest_.remove_prefix(value.size());
        return value;
    }

    std::string_view rest_;
};

std::vector<Hop> forwarded_hops(const Head& head) {
    std::vector<Hop> hops;
    for (const auto& [name, value] : head.fields) {
        if (!same_name(name, "Forwarded")) continue;
        const auto read = ForwardedField{value}.hops();
        if (read)
            hops.insert(hops.end(), read->begin(), read->end());
        else
            hops.emplace_back();
    }
    return hops;
}

std::vector<Hop> x_forwarded_hops(const Head& head) {
    std::vector<Hop> hops;
    std::string_view scheme;  // The last one is of the proxy that we hear.
    for (const auto& [name, value] : head.fields) {
        if (same_name(name, "X-Forwarded-For"))
            each_item(value, [&](std::string_view from) { hops.push_back({from, {}}); });
        if (same_name(name, "X-Forwarded-Proto"))
            each_item(value, [&](std::string_view one) { scheme = known_scheme(one); });
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
