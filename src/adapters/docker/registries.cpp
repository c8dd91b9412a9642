#include "adapters/docker/registries.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "adapters/docker/routes.h"

namespace hostler::docker {

namespace {

bool is_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

std::string_view host_of(std::string_view registry) { return registry.substr(0, registry.find(':')); }

bool is_registry(std::string_view word) {
    constexpr std::size_t host_max = 253, port_max = 5;
    const auto host = host_of(word);
    if (host.empty() || host.size() > host_max || !is_alnum(host.front()) || !is_alnum(host.back()))
        return false;
    if (!std::ranges::all_of(host, [](char c) { return is_alnum(c) || c == '.' || c == '-'; })) return false;
    if (host.size() == word.size()) return true;
    const auto port = word.substr(host.size() + 1);
    return !port.empty() && port.size() <= port_max &&
           std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
}

std::string lower(std::string_view text) {
    std::string made{text};
    for (char& c : made)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return made;
}

template <std::size_t Size>
int ones(const std::uint8_t (&mask)[Size]) {
    int bits = 0;
    for (const std::uint8_t byte : mask) bits += std::popcount(byte);
    return bits;
}

std::optional<IpRange> network_of(const ifaddrs& one) {
    if (!one.ifa_addr || !one.ifa_netmask) return std::nullopt;
    if (one.ifa_addr->sa_family == AF_INET) {
        sockaddr_in address{}, mask{};
        std::memcpy(&address, one.ifa_addr, sizeof address);
        std::memcpy(&mask, one.ifa_netmask, sizeof mask);
        std::uint8_t bytes[4], masked[4];
        std::memcpy(bytes, &address.sin_addr, sizeof bytes);
        std::memcpy(masked, &mask.sin_addr, sizeof masked);
        return IpRange{IpAddress::v4(bytes), 96 + ones(masked)};
    }
    if (one.ifa_addr->sa_family != AF_INET6) return std::nullopt;
    sockaddr_in6 address{}, mask{};
    std::memcpy(&address, one.ifa_addr, sizeof address);
    std::memcpy(&mask, one.ifa_netmask, sizeof mask);
    std::uint8_t bytes[16], masked[16];
    std::memcpy(bytes, &address.sin6_addr, sizeof bytes);
    std::memcpy(masked, &mask.sin6_addr, sizeof masked);
    return IpRange{IpAddress::v6(bytes), ones(masked)};
}

}  // namespace

bool Registries::names(std::string_view registry) const {
    const std::string wanted = lower(registry);
    return std::ranges::any_of(
        allowed, [&](const std::string& one) { return one == wanted || one == host_of(wanted); });
}

Result<Registries> parse_registries(const std::vector<std::string>& words, bool only) {
    if (words.size() > registries_max)
        return fail(Code::invalid, fmt::format("--registries has {} registries; registries_max is {}",
                                               words.size(), registries_max));
    if (only && words.empty())
        return fail(Code::invalid, "--registries-only needs --registries: no image could come from anywhere");
    Registries parsed{.only = only};
    for (const std::string& word : words) {
        if (!is_registry(word))
            return fail(
                Code::invalid,
                fmt::format("--registries '{}' is not HOST or HOST:PORT, as registry.lan:5000", word));
        parsed.allowed.push_back(lower(word));
    }
    return parsed;
}

std::string registry_of(std::string_view full_image_name) {
    return std::string{full_image_name.substr(0, full_image_name.find('/'))};
}

Result<std::vector<IpRange>> networks_of_host() {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0)
        return fail(Code::unavailable,
                    fmt::format("the host's addresses cannot be read: {}", std::strerror(errno)));
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned{list, &::freeifaddrs};
    std::vector<IpRange> networks;
    for (const ifaddrs* at = list; at; at = at->ifa_next)
        if (const auto network = network_of(*at)) networks.push_back(*network);
    for (const auto& network : connected_networks(TRY(ipv4_routes())))
        networks.push_back(TRY(parse_ip_range(to_text(network))));
    return networks;
}

std::string refusal_of(const std::vector<std::string>& addresses, const std::vector<IpRange>& networks) {
    constexpr const char* inside =
        "its registry leads to an address inside, which is the operator's to allow";
    for (std::string_view text : addresses) {
        text = text.substr(0, text.rfind(':'));
        if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
        const auto address = parse_ip(text);
        if (!address || !is_public(*address) ||
            std::ranges::any_of(networks, [&](const IpRange& range) { return range.contains(*address); }))
            return inside;
    }
    return addresses.empty() ? "its registry has no address" : "";
}

}  // namespace hostler::docker
