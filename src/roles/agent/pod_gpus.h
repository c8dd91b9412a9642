// The GPUs of this host for pods, from when it is made a node of a cluster until it is cleaned.
#pragma once

#include <string>

#include "roles/agent/sampler.h"
#include "roles/agent/settings.h"

namespace hostler::agent {

class PodGpus {
public:
    PodGpus(const Ports& ports, const Sampler& sampler) : ports_(ports), sampler_(sampler) {}

    void load();                     // Which node the journal says that it is.
    Task<> begin(std::string node);  // Does nothing where it is known. Errors: the journal's.
    Task<> end();                   // Nothing is offered when this returns. Errors: the journal's; cancelled.
    Task<> run(Duration interval);  // Offers what the sampler sees; until it is cancelled.

private:
    PodOffer seen() const;

    Ports ports_;
    const Sampler& sampler_;
    std::string node_;  // Id; empty: it is none.
};

}  // namespace hostler::agent
