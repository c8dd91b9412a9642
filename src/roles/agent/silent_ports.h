// Why a port of a container does not answer, where its host can tell.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/signal.h"
#include "roles/agent/settings.h"

namespace hostler::agent {

// "its program listens on 127.0.0.1 only; let it listen on 0.0.0.0"; empty: something listens where others
// reach it, or nothing does.
std::string loopback_only(std::span<const std::string> addresses);

class SilentPorts {
public:
    explicit SilentPorts(const Ports& ports) : ports_(ports) {}
    // As loopback_only() says it; empty also when it is not known in time. Many may ask at once: what one is
    // told counts for all, for a second.
    Task<std::string> why(std::string container, std::uint16_t port);

private:
    struct Asked {
        Instant until{};  // Counts until then.
        bool under_way = false;
        std::string answer;
        Signal answered;
    };
    Ports ports_;
    std::map<std::pair<std::string, std::uint16_t>, std::shared_ptr<Asked>> asked_;
};

}  // namespace hostler::agent
