// Our end of measuring how fast the way to an access point is.
#pragma once

#include <string>

#include "core/task_group.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/sampler.h"
#include "roles/agent/settings.h"

namespace hostler::agent {

// The access point asks, one at a time is answered, and none while the host's own traffic would suffer.
class SpeedAnswers {
public:
    SpeedAnswers(const Settings& settings, const Ports& ports, Sampler& sampler);
    ~SpeedAnswers();

    void answer(uplink::SpeedOrder order);  // Never waits.
    Task<> close();

private:
    Task<> carry(uplink::SpeedOrder order);
    Task<bool> busy(std::uint32_t limit_kbit_s);
    Task<Metric> moved();  // Bytes so far, both ways; nullopt: not known.

    const Settings& settings_;
    Ports ports_;
    Sampler& sampler_;
    bool answering_ = false;
    TaskGroup tasks_;
};

}  // namespace hostler::agent
