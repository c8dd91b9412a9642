// Sites and the ways into them.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>

#include "domain/object.h"
#include "domain/scheduler/wishes.h"

namespace hostler {

struct Zone {
    std::string name;   // "nj"
    std::string place;  // "New Jersey, US"
    std::int64_t created_at = 0;
    std::optional<Spot> spot;  // Where that is on earth.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Zone, (), (name, place, created_at, spot))

// Known since it first said hello; whether it is here at the moment is not stored.
struct AccessPoint {
    std::string name;  // As in its certificate.
    std::string zone;
    std::string uplink_address;
    std::string tunnel_address;
    std::string control_address;
    std::int64_t created_at = 0;
    bool draining = false;  // It takes no new agents, and those that are there leave.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(AccessPoint, (),
                      (name, zone, uplink_address, tunnel_address, control_address, created_at, draining))

struct Gateway {
    std::string name;
    std::string address;  // "http://localhost:8443"
    std::string domain;   // Instances are names below it; empty: each has a port of its own.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Gateway, (), (name, address, domain))

}  // namespace hostler
