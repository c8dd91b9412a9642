// The role that runs on each GPU host.
#pragma once

#include <memory>
#include <vector>

#include "domain/inventory/host.h"
#include "roles/agent/settings.h"

namespace hostler::agent {

class ReportQueue;

// Two things outlive an agent: the journal and the containers. It may be killed at any moment; another one
// made on the same journal and engine goes on where it was.
class Agent {
public:
    Agent(Settings settings, Ports ports);
    ~Agent();

    // Joins if this host has no identity yet, then works until it is cancelled. Containers keep running when
    // it ends. Errors: cancelled; unauthenticated, forbidden, invalid, conflict (the token is malformed,
    // refused, used or expired, or whoever answered is not of the cloud that issued it: a person has to act).
    Task<> run();

    // The identity that it has joined as, "h-…"; empty before.
    std::string host() const;
    // Whether the master has welcomed it on the present connection.
    bool connected() const;
    // The GPUs that it has found, as it looked last.
    const std::vector<GpuFacts>& gpus() const;
    // For the simulation's checkers: what waits for an answer.
    const ReportQueue* reports() const;

private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace hostler::agent
