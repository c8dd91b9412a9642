// The host's side of isolation, put up and taken down. Each call blocks: for a Worker, one at a time.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "adapters/docker/firewall.h"
#include "core/result.h"

namespace hostler::docker {

struct WallSettings {
    std::chrono::milliseconds time{10'000};           // One run of nft.
    std::string lock = "/run/hostler-firewall.lock";  // Between the agents of one machine.
    std::string table = "hostler";                    // Of a cloud; its agents of one machine share it.
    std::vector<Ipv4Subnet> reach{};                  // Networks of the operator that tenants may reach.
};

class Wall {
public:
    explicit Wall(WallSettings settings) : settings_(std::move(settings)) {}

    // Where all of it stands as it was put up, and the host is connected to the same networks, nothing is
    // done but to look. Errors: unavailable.
    Result<> put_up(std::string_view bridge);
    // put_up() again for all bridges: networks of the host come and go, and a firewall's reload takes away
    // what it does not know. Errors: unavailable.
    Result<> refresh();
    // The table goes with its last bridge. Errors: unavailable.
    Result<> take_down(std::string_view bridge);
    // Takes the bridge out of the table that releases before shared between all clouds, once it stands in
    // this one. Errors: unavailable.
    Result<> leave_former_table(std::string_view bridge);

private:
    Result<> take_out(std::string_view table, std::string_view bridge);

    WallSettings settings_;
    std::optional<std::string> rules_;   // As they were seen once we had put them up,
    std::vector<Ipv4Subnet> connected_;  // with these networks.
    std::set<std::string, std::less<>> bridges_;
};

// Errors: invalid: `name` is none that nftables and this table's users agree on: letters, digits and _, 32 at
// most, first a letter.
Result<> check_table_name(std::string_view name);

}  // namespace hostler::docker
