#include "adapters/sysfs/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

namespace hostler {

namespace {

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

// Whether a device of the machine is at the end of an interface: a card, or below a bond, a VLAN or a bridge.
bool has_device(const std::string& net, const std::string& interface, int depth) {
    constexpr std::size_t lower_max = 1024;
    constexpr std::string_view lower = "lower_";
    if (is_there(net + interface + "/device")) return true;
    if (depth == 0) return false;
    return std::ranges::any_of(list_folder(net + interface, lower_max), [&](const std::string& name) {
        return name.starts_with(lower) && has_device(net, name.substr(lower.size()), depth - 1);
    });
}

// Empty: loopback, link-local, of another family.
std::string text_of(const sockaddr& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.sa_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
        constexpr std::uint32_t link_local = 0xa9fe, loopback = 127;
        const std::uint32_t number = ntohl(v4.s_addr);
        if (number >> 16 == link_local || number >> 24 == loopback) return {};
        return inet_ntop(AF_INET, &v4, text.data(), text.size()) ? text.data() : "";
    }
    if (address.sa_family != AF_INET6) return {};
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (IN6_IS_ADDR_LINKLOCAL(&v6) || IN6_IS_ADDR_LOOPBACK(&v6)) return {};
    return inet_ntop(AF_INET6, &v6, text.data(), text.size()) ? text.data() : "";
}

}  // namespace

std::vector<InterfaceAddress> interface_addresses() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> kept{list, &freeifaddrs};
    std::vector<InterfaceAddress> found, v6;
    for (const ifaddrs* at = list; at; at = at->ifa_next) {
        if (!at->ifa_addr || (at->ifa_flags & IFF_UP) == 0 || (at->ifa_flags & IFF_LOOPBACK) != 0) continue;
        if (std::string text = text_of(*at->ifa_addr); !text.empty())
            (at->ifa_addr->sa_family == AF_INET ? found : v6).push_back({at->ifa_name, std::move(text)});
    }
    found.insert(found.end(), v6.begin(), v6.end());
    return found;
}

std::vector<std::string> own_addresses(const KernelRoots& roots, const std::vector<InterfaceAddress>& all) {
    constexpr int depth_max = 4;  // A bridge over a VLAN over a bond over a card.
    const std::string net = roots.sys + "/class/net/";
    std::vector<std::string> own;
    for (const InterfaceAddress& one : all) {
        if (own.size() == own_addresses_max) break;
        if (std::ranges::count(own, one.address) > 0) continue;
        if (is_there(net + one.interface + "/bridge") && !has_device(net, one.interface, depth_max)) continue;
        own.push_back(one.address);
    }
    return own;
}

}  // namespace hostler
