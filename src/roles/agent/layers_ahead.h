// Empty layers for the containers of instances that will be started in idle slots of this host.
#pragma once

#include <cstdint>
#include <functional>

#include "core/signal.h"
#include "roles/agent/settings.h"

namespace hostler::agent {

class LayersAhead {
public:
    static constexpr std::size_t count_max = 64;  // Whatever the master asks for.

    // `busy`: an instance is being started, which nothing is to slow down.
    LayersAhead(KeptLayers* layers, std::function<bool()> busy) : layers_(layers), busy_(std::move(busy)) {}

    // What the master wants now. It says so with each answer to a report, so that what is left undone is
    // done after a later one. Never waits.
    void want(std::size_t count, std::uint64_t bytes);
    Task<> run();
    std::size_t made() const { return made_; }  // As the host last said.

private:
    KeptLayers* layers_;
    std::function<bool()> busy_;
    std::size_t count_ = 0, made_ = 0;
    std::uint64_t bytes_ = 0;
    Signal wanted_;
    bool failing_ = false;  // It was said.
};

}  // namespace hostler::agent
