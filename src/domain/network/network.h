// Networks: one per project; on each host where it is needed a subnet of its own, from one pool.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "domain/object.h"

namespace hostler {

struct Network {
    std::string id;                // "n-…"
    std::string name = "default";  // Unique in the tenant; its people may give it another.
    std::string tenant;
    std::string project = "default";  // It has no other network.
    std::int64_t created_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Network, (), (id, name, tenant, created_at, project))

// A network's bridge on one host.
struct Subnet {
    std::string id;  // "sn-…": what the host calls it.
    std::string network;
    std::string tenant;
    std::string project = "default";
    std::string host;
    std::uint32_t index = 0;  // The how-manieth /24 of the pool.
    bool leaving = false;     // Nobody stands in it; the host is to remove it.
    bool unusable = false;    // The host has something else at these addresses: nobody uses them again.
    bool foreign = false;     // What stands in it is known to its host alone; unusable meanwhile.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Subnet, (), (id, network, tenant, host, index, leaving, unusable, foreign, project))

// The addresses that the master owns: /24 subnets of IPv4 ranges, numbered through all of them. The gateway
// is .1, claims get .2 to .254.
class AddressPool {
public:
    // "10.208.0.0/12,100.64.0.0/10": numbers of the first range come first. A range that is added behind the
    // others changes no number. Errors: invalid (no range, or two that overlap).
    static Result<AddressPool> parse(std::string_view ranges);
    std::uint32_t size() const;
    // The lowest index that is free, if there is one. Errors: exhausted.
    Result<std::uint32_t> pick(std::uint64_t lowest_free) const;
    std::string subnet(std::uint32_t index) const;              // "10.208.3.0/24"
    std::string address(std::uint32_t index, int place) const;  // "10.208.3.17"; place 1 is the gateway.
    struct Place {
        std::uint32_t index = 0;
        int place = 0;
    };
    std::optional<Place> place_of(std::string_view address) const;  // nullopt: it is none of ours.

private:
    struct Range {
        std::uint32_t base = 0;
        std::uint32_t first = 0;  // Its first index.
        std::uint32_t size = 0;
    };
    std::vector<Range> ranges_;  // At least one.
};

}  // namespace hostler
