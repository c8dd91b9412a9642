// Where a task may go, and beside whom, as its owner says it.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "domain/inventory/host.h"
#include "domain/inventory/rating.h"
#include "domain/scheduler/shape.h"

namespace hostler {

BOOST_DESCRIBE_ENUM(Link, any, nvlink, pcie, numa)

// What keeps a workload apart from other tenants': the first four on the same GPU, the others on the same
// host.
enum class Isolation : std::uint8_t { soft, mig, exclusive, vm, container, user_namespace };
BOOST_DESCRIBE_ENUM(Isolation, soft, mig, exclusive, vm, container, user_namespace)

enum class Trust : std::uint8_t { community, trusted };
BOOST_DESCRIBE_ENUM(Trust, community, trusted)

// A point on earth, in millionths of a degree; north and east are positive.
struct Spot {
    std::int32_t latitude = 0;
    std::int32_t longitude = 0;
    auto operator<=>(const Spot&) const = default;
};
BOOST_DESCRIBE_STRUCT(Spot, (), (latitude, longitude))

// Along the great circle, rounded down.
int distance_km(Spot a, Spot b);
// "40.73,-74.17": degrees north and east, up to six places each. Errors: invalid.
Result<Spot> parse_spot(std::string_view text);
std::string to_string(Spot spot);

struct Nearness {
    Spot spot;
    int km = 0;  // At most so far.
    auto operator<=>(const Nearness&) const = default;
};
BOOST_DESCRIBE_STRUCT(Nearness, (), (spot, km))

// Which hosts will do, by what they are like. Each list empty: any.
struct Terms {
    using Near = Nearness;

    std::vector<std::string> hosts;  // Names.
    std::vector<std::string> zones;
    std::vector<std::string> racks;
    std::optional<Near> near;  // Hosts of unknown spot are too far.
    std::string gpu_class;
    std::string model;  // Words that stand in the model: "h100" is any H100.
    std::optional<GpuVendor> vendor;
    std::int64_t gpu_memory_bytes = 0;          // At least.
    GpuTier tier = GpuTier::unrated;            // This or a better one; unrated: any.
    std::optional<Isolation> isolation;         // That can be had there.
    Trust trust = Trust::community;             // At least.
    std::optional<std::int64_t> price_micros;   // At most.
    std::map<std::string, std::string> labels;  // Each with this value.
    bool programs = false;                      // That run programs without containers.
    auto operator<=>(const Terms&) const = default;
    // Every host will do.
    bool any() const {
        return hosts.empty() && zones.empty() && racks.empty() && !near && gpu_class.empty() &&
               model.empty() && !vendor && gpu_memory_bytes == 0 && tier == GpuTier::unrated && !isolation &&
               trust == Trust::community && !price_micros && labels.empty() && !programs;
    }
};
BOOST_DESCRIBE_STRUCT(Terms, (),
                      (hosts, zones, racks, near, gpu_class, model, vendor, gpu_memory_bytes, tier, isolation,
                       trust, price_micros, labels, programs))

enum class Area : std::uint8_t { none, host, rack, zone };
BOOST_DESCRIBE_ENUM(Area, none, host, rack, zone)

// Those of one group, of one tenant, are of one kind.
struct Wishes {
    Terms terms;
    std::string group;             // Empty: in none; the next three then mean nothing.
    Area apart = Area::none;       // No other of its group on that host, rack, zone.
    Area spread = Area::none;      // Where there are fewest of its group…
    Area pack = Area::none;        // …or most; one of the two.
    Link link = Link::any;         // Its GPUs reach each other like this, or it does not fit;
    Link link_wanted = Link::any;  // if there is room like that.
    bool operator==(const Wishes&) const = default;
};
BOOST_DESCRIBE_STRUCT(Wishes, (), (terms, group, apart, spread, pack, link, link_wanted))

}  // namespace hostler
