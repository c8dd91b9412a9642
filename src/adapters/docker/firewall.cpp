#include "adapters/docker/firewall.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "domain/network/outside.h"

namespace hostler::docker {

namespace {

constexpr std::string_view table_name = "TABLE";  // Replaced by the plan's.

constexpr std::string_view table = R"(add table inet TABLE
add set inet TABLE bridges { type ifname; }
add set inet TABLE inside { type ifname . ifname; }
add set inet TABLE reach { type ipv4_addr; flags interval; auto-merge; }
add set inet TABLE private { type ipv4_addr; flags interval; auto-merge; }
add set inet TABLE connected { type ipv4_addr; flags interval; auto-merge; }
add chain inet TABLE input { type filter hook input priority -10; policy accept; }
add chain inet TABLE forward { type filter hook forward priority -10; policy accept; }
add chain inet TABLE tenant_to_host
add chain inet TABLE tenant_out
add chain inet TABLE tenant_in
)";

// To the host: answers to what the host began, and DNS at the bridge's own address, where somebody listens on
// that very address: the engine's resolver, and not the host's, which listens on all. Out: not to other
// bridges, not to what the host publishes for others, no IPv6 (bridges have none); to what the operator
// allows; else not to private networks (cloud metadata and multicast among them) nor to those that the host
// is connected to. In: answers. A connection that the host forwards uses segments that fit the way out as it
// is when the connection begins: a bridge has an MTU of 1500 whatever the host's own links have, and many
// routers outside do not say what does not fit.
constexpr std::string_view rules = R"(flush chain inet TABLE input
flush chain inet TABLE forward
flush chain inet TABLE tenant_to_host
flush chain inet TABLE tenant_out
flush chain inet TABLE tenant_in
flush set inet TABLE reach
flush set inet TABLE private
flush set inet TABLE connected
add rule inet TABLE input iifname @bridges jump tenant_to_host
add rule inet TABLE forward iifname . oifname @inside accept
add rule inet TABLE forward iifname @bridges tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu
add rule inet TABLE forward oifname @bridges tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu
add rule inet TABLE forward iifname @bridges jump tenant_out
add rule inet TABLE forward oifname @bridges jump tenant_in
add rule inet TABLE tenant_to_host meta nfproto ipv6 drop
add rule inet TABLE tenant_to_host ct state established,related accept
add rule inet TABLE tenant_to_host fib daddr . iif type local meta l4proto { tcp, udp } th dport 53 socket wildcard 0 accept
add rule inet TABLE tenant_to_host drop
add rule inet TABLE tenant_out oifname @bridges drop
add rule inet TABLE tenant_out meta nfproto ipv6 drop
add rule inet TABLE tenant_out ct status dnat drop
add rule inet TABLE tenant_out ip daddr @reach accept
add rule inet TABLE tenant_out ip daddr @private drop
add rule inet TABLE tenant_out ip daddr @connected drop
add rule inet TABLE tenant_in ct state established,related accept
add rule inet TABLE tenant_in drop
)";

std::string bridge_elements(std::string_view bridge, std::string_view verb) {
    return fmt::format(
        "{0} element inet TABLE bridges {{ \"{1}\" }}\n"
        "{0} element inet TABLE inside {{ \"{1}\" . \"{1}\" }}\n",
        verb, bridge);
}

std::string range_elements(std::string_view set, const std::vector<std::string>& ranges) {
    if (ranges.empty()) return {};
    return fmt::format("add element inet TABLE {} {{ {} }}\n", set, fmt::join(ranges, ", "));
}

std::vector<std::string> texts(const std::vector<Ipv4Subnet>& ranges) {
    std::vector<std::string> made;
    for (const auto& range : ranges) made.push_back(to_text(range));
    return made;
}

std::vector<std::string> private_ranges() {
    std::vector<std::string> found;
    for (const std::string_view range : ranges_inside())
        if (!range.contains(':')) found.emplace_back(range);
    return found;
}

std::string of_table(std::string text, std::string_view name) {
    for (auto at = text.find(table_name); at != std::string::npos;
         at = text.find(table_name, at + name.size()))
        text.replace(at, table_name.size(), name);
    return text;
}

}  // namespace

std::string wall_up(const WallPlan& plan, std::string_view bridge) {
    return of_table(
        fmt::format("{}{}{}{}{}{}", table, rules, range_elements("reach", texts(plan.reach)),
                    range_elements("private", private_ranges()),
                    range_elements("connected", texts(plan.connected)), bridge_elements(bridge, "add")),
        plan.table);
}

std::string wall_down(std::string_view of, std::string_view bridge) {
    // Deleting what is not there fails the whole transaction, so it is added first.
    return of_table(
        fmt::format("{}{}{}", table, bridge_elements(bridge, "add"), bridge_elements(bridge, "delete")), of);
}

std::size_t wall_rules_count() {
    constexpr std::string_view added = "add rule ";
    std::size_t count = 0;
    for (auto at = rules.find(added); at != std::string_view::npos; at = rules.find(added, at + 1)) ++count;
    return count;
}

bool no_bridges(std::string_view listing) { return listing.find("elements") == std::string_view::npos; }

std::string table_drop(std::string_view of) { return fmt::format("delete table inet {}\n", of); }

}  // namespace hostler::docker
