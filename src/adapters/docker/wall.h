// The host's side of isolation, put up and taken down. Each call blocks: for a Worker, one at a time.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::docker {

struct WallSettings {
    std::chrono::milliseconds time{10'000};           // One run of nft.
    std::string lock = "/run/hostler-firewall.lock";  // Between the agents of one machine.
};

class Wall {
public:
    explicit Wall(WallSettings settings) : settings_(std::move(settings)) {}

    // Where all of it stands as it was put up, nothing is done but to look. Errors: unavailable.
    Result<> put_up(std::string_view bridge);
    // The table goes with its last bridge. Errors: unavailable.
    Result<> take_down(std::string_view bridge);

private:
    WallSettings settings_;
    std::optional<std::string> rules_;  // As they were seen once we had put them up.
};

}  // namespace hostler::docker
