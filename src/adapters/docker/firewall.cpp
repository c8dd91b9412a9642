#include "adapters/docker/firewall.h"

#include <fmt/format.h>

namespace hostler::docker {

namespace {

constexpr std::string_view table = R"(add table inet hostler
add set inet hostler bridges { type ifname; }
add set inet hostler inside { type ifname . ifname; }
add chain inet hostler input { type filter hook input priority -10; policy accept; }
add chain inet hostler forward { type filter hook forward priority -10; policy accept; }
add chain inet hostler tenant_to_host
add chain inet hostler tenant_out
add chain inet hostler tenant_in
)";

// To the host: answers to what the host began, and DNS at the bridge's own address. Out: not to other
// bridges, not to what the host publishes for others, not to link-local addresses (cloud metadata), no IPv6
// (bridges have none). In: answers.
constexpr std::string_view rules = R"(flush chain inet hostler input
flush chain inet hostler forward
flush chain inet hostler tenant_to_host
flush chain inet hostler tenant_out
flush chain inet hostler tenant_in
add rule inet hostler input iifname @bridges jump tenant_to_host
add rule inet hostler forward iifname . oifname @inside accept
add rule inet hostler forward iifname @bridges jump tenant_out
add rule inet hostler forward oifname @bridges jump tenant_in
add rule inet hostler tenant_to_host ct state established,related accept
add rule inet hostler tenant_to_host fib daddr . iif type local meta l4proto { tcp, udp } th dport 53 accept
add rule inet hostler tenant_to_host drop
add rule inet hostler tenant_out oifname @bridges drop
add rule inet hostler tenant_out ip daddr 169.254.0.0/16 drop
add rule inet hostler tenant_out meta nfproto ipv6 drop
add rule inet hostler tenant_out ct status dnat drop
add rule inet hostler tenant_in ct state established,related accept
add rule inet hostler tenant_in drop
)";

std::string elements(std::string_view bridge, std::string_view verb) {
    return fmt::format(
        "{0} element inet hostler bridges {{ \"{1}\" }}\n"
        "{0} element inet hostler inside {{ \"{1}\" . \"{1}\" }}\n",
        verb, bridge);
}

}  // namespace

std::string wall_up(std::string_view bridge) {
    return fmt::format("{}{}{}", table, rules, elements(bridge, "add"));
}

std::string wall_down(std::string_view bridge) {
    // Deleting what is not there fails the whole transaction, so it is added first.
    return fmt::format("{}{}{}", table, elements(bridge, "add"), elements(bridge, "delete"));
}

std::size_t wall_rules_count() {
    constexpr std::string_view added = "add rule ";
    std::size_t count = 0;
    for (auto at = rules.find(added); at != std::string_view::npos; at = rules.find(added, at + 1)) ++count;
    return count;
}

bool no_bridges(std::string_view listing) { return listing.find("elements") == std::string_view::npos; }

}  // namespace hostler::docker
