// The GPUs of this host for pods, from when it is made a node of a cluster until it is cleaned.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/signal.h"
#include "core/task_group.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/sampler.h"
#include "roles/agent/settings.h"

namespace hostler::agent {

class PodGpus {
public:
    PodGpus(const Settings& settings, const Ports& ports, const Sampler& sampler)
        : settings_(settings), ports_(ports), sampler_(sampler), tasks_(ports.loop) {}

    void load();                     // Which node the journal says that it is.
    Task<> begin(std::string node);  // Does nothing where it is known. Errors: the journal's.
    Task<> end();                   // Nothing is offered when this returns. Errors: the journal's; cancelled.
    Task<> run(Duration interval);  // Offers what the sampler sees; until it is cancelled.
    Task<> close();

    // Says in samples of GPUs which pods have them. Asks the kubelet, one question at a time, and waits for
    // its answer as long as for a sample. Without one the answer before holds, for a minute after it was
    // asked for. On a host that is no node it does nothing.
    Task<> name_pods(std::vector<GpuSample>& gpus);
    static constexpr Duration answer_lasts = minutes{1};
    std::optional<uplink::PodDevices> told() const;  // nullopt: this host is no node.

private:
    PodOffer seen() const;
    Task<> ask();
    bool known() const { return answer_ && ports_.timers.now() - answer_->asked < answer_lasts; }

    const Settings& settings_;
    Ports ports_;
    const Sampler& sampler_;
    std::string node_;        // Id; empty: it is none.
    std::uint64_t turn_ = 0;  // Of the node. An answer that was asked for in an earlier turn is dropped.
    struct Answer {
        std::map<std::string, GpuPod> holders;  // By UUID.
        Instant asked;
    };
    std::optional<Answer> answer_;
    bool asking_ = false;
    std::string trouble_;  // That was logged.
    Signal answered_;
    TaskGroup tasks_;
};

}  // namespace hostler::agent
