// Makes reports: at each interval, and at once when something worth it has changed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/signal.h"
#include "roles/agent/activity.h"
#include "roles/agent/book.h"
#include "roles/agent/layers_ahead.h"
#include "roles/agent/leases.h"
#include "roles/agent/memory_watch.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/pod_gpus.h"
#include "roles/agent/reports.h"
#include "roles/agent/sampler.h"
#include "roles/agent/settings.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

class Reporter {
public:
    Reporter(const Settings& settings, const Ports& ports, Workloads& workloads, Activity& activity,
             Sampler& sampler, const Leases& leases, const CommandBook& book, const LayersAhead& ahead,
             const MemoryWatch& memory, PodGpus& pods);

    Task<> run();
    // What the first words to a master say: everything, as it is now. Once it has welcomed them: greeted().
    Task<uplink::AgentHello> hello(std::uint64_t epoch);

    // How everything does at this moment.
    Task<uplink::Telemetry> telemetry();

    void note(const Workload& changed);
    void note_image(const std::string& image);  // It is here now.
    void touch();                               // Facts or faults may have changed.
    // By a master that heard the last hello. The next report is complete, and soon.
    void greeted();
    void pace(Duration interval);
    // nullopt: it was not asked since it last came.
    std::optional<EngineFacts> engine() const { return engine_may_differ_ ? std::nullopt : engine_; }
    ReportQueue& queue() { return queue_; }
    Signal& grown() { return grown_; }

private:
    Task<> wait();
    Task<> describe_engine();
    Task<> list_images(Duration within);
    uplink::HostFacts facts(const std::string& engine_error) const;
    uplink::Workload with_use(const Workload& workload);
    bool add_changes(uplink::Report& report);
    Task<> add_everything(uplink::Report& report);
    Task<> add_disk_uses(uplink::Report& report, Duration within);
    std::vector<std::string> running_containers() const;
    Task<> count_processes(Duration within);
    Task<> add_instance_samples(uplink::Report& report, Duration within);

    const Settings& settings_;
    Ports ports_;
    Workloads& workloads_;
    Activity& activity_;
    Sampler& sampler_;
    const Leases& leases_;
    const CommandBook& book_;
    const LayersAhead& ahead_;
    const MemoryWatch& memory_;
    PodGpus& pods_;
    ReportQueue queue_;
    Signal grown_;
    Signal wake_;
    bool touched_ = false;
    bool stuck_ = false;  // The journal takes no numbers; it was said.
    Duration interval_ = seconds{10};
    Instant next_;
    std::map<std::string, Workload> changed_;  // By instance.
    // Generation by instance, of those that were seen to end while their lease lasted.
    std::map<std::string, std::uint64_t> ended_by_itself_;
    std::string facts_told_;  // As of the last report, or the hello after it.
    struct {
        std::string facts;
        std::uint64_t after = 0;                   // Report.
    } hello_;                                      // The last one; its master may not have heard it.
    bool keeps_layers_ = false;                    // As the engine last said.
    std::optional<EngineFacts> engine_;            // As it was when it last came,
    bool engine_may_differ_ = true;                // which was before it was silent.
    HostVolumes::Room room_;                       // As last measured.
    std::optional<std::set<std::string>> images_;  // Names in full, as last seen.
    Instant images_due_{};
    std::map<std::string, ProcessUse> processes_;  // By the engine's id of a container, as last counted.
    std::string boot_id_;                          // Where the machine has none.
};

}  // namespace hostler::agent
