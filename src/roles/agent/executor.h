// Does what commands say: each once, those of one subject in order, different subjects at the same time.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/queue.h"
#include "core/task_group.h"
#include "roles/agent/book.h"
#include "roles/agent/kept_log.h"
#include "roles/agent/leases.h"
#include "roles/agent/private_images.h"
#include "roles/agent/settings.h"
#include "roles/agent/silent_ports.h"
#include "roles/agent/tenant_ids.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

class Executor {
public:
    struct Hooks {
        std::function<void(const uplink::CommandUpdate&)> send;     // To the master, if it is there just now.
        std::function<void(const std::string& instance)> stopping;  // Its tunnels are to end.
        std::function<std::string(const std::string& uuid)> cdi_name;  // Of a GPU; empty: it cannot be lent.
        std::function<std::optional<EngineFacts>()> engine;            // As last asked; nullopt: not yet.
        std::function<void(const std::string& image)> pulled;          // It is here now.
        std::function<Result<>(const std::string& uuid)> test_gpu;     // Somebody has seen to it.
        std::function<std::string()> gpu_user;  // A process that has a GPU, in words; empty: none is known.
        // For how long nobody has used it; nullopt: it does not run in this generation.
        std::function<std::optional<Duration>(const std::string& instance, std::uint64_t generation)> unused;
        std::function<Task<>(std::string node)> node_made;  // A step towards this node is done here.
        std::function<Task<>()> node_ends;                  // Its clean-up begins.
    };
    Executor(const Settings& settings, const Ports& ports, CommandBook& book, Workloads& workloads,
             Leases& leases, Hooks hooks);
    ~Executor();

    void belong_to(std::string host) { host_ = std::move(host); }
    void begin();                        // With what the book says was begun; once, after its load().
    void take(uplink::Command command);  // Never waits.
    // Commands for it are under way or wait.
    bool busy(const std::string& subject) const { return lanes_.contains(subject); }
    bool starting() const { return heavy_ > 0; }        // Starts or pulls are under way.
    void tell_path(const uplink::ChallengePath& path);  // Of a challenge that waits for it.
    Task<> close();  // Ends all work where it is; the next agent's begin() goes on.

    // One GPU that no instance has; the others may be in use. Errors: conflict (in_use), those of the bench.
    Task<GpuBench::Figures> measure_gpu(std::string gpu);

    // Of a container that runs or ran. Errors: not_found, and the engine's.
    Task<LogPart> logs(std::string instance, LogsWanted wanted);

private:
    struct Job;
    using JobPtr = std::shared_ptr<Job>;
    struct Lane {
        std::deque<JobPtr> jobs;  // The first is being done.
    };

    Task<> admit_all();
    void enqueue(uplink::Command command, bool resumed = false);
    void supersede(Job& job);
    Task<> work(std::string subject);
    Task<> perform(JobPtr job);
    Task<> act(JobPtr job);  // Switches over the actions below.

    // measuring.cpp
    Result<> gpus_unused() const;
    Task<> yield_gpus(JobPtr start);
    Task<> measure(JobPtr job);
    Task<> prove(JobPtr job);
    Task<std::uint32_t> path_seed(JobPtr job);

    // node_actions.cpp
    Result<const KnownDriver*> driver_of(const std::string& name, const std::string& digest) const;
    Task<> node_step(JobPtr job);
    Task<> node_clean(JobPtr job);

    // actions.cpp
    Task<> start(JobPtr job);
    Task<> bring_up(JobPtr job, bool known);
    Task<bool> is_here(std::string image);
    Task<> fetch(JobPtr job, std::string image);
    Task<> pull(JobPtr job, ImageWanted image);
    Result<ContainerSpec> spec_of(const Job& job) const;
    Task<ContainerSpec> prepare(JobPtr job);
    Task<> ensure_network(NetworkSpec network);
    Task<> attach(std::string volume, IdRange ids, MountSpec& mount, std::vector<std::string>& notes);
    Task<IdRange> ids_of(std::string tenant);
    Task<Container> launch(JobPtr job, ContainerSpec spec);
    Task<> clear_name(std::string instance, std::uint64_t generation);
    Task<> make_ready(JobPtr job);
    Task<> probe_port(JobPtr job, uplink::Port port, Instant begun, Instant until);
    Task<> give_up(JobPtr job, Error why);
    Task<> decide_unused(JobPtr job);
    Task<> forget_decision(JobPtr job);
    Task<> forget_old_decisions();
    Task<> stop(JobPtr job);
    Task<> create_volume(std::string volume, std::uint64_t size_bytes);
    Task<> delete_volume(std::string volume);
    Task<> take_away(JobPtr job, Workload gone, Duration grace, LayerEnd layer);
    Task<> lose_layer(std::string instance);
    Task<std::string> keep_logs(std::string instance, std::string container);
    Task<> look(std::string instance);
    Task<> look_at_all();
    void progress(Job& job, std::string_view phase, std::string message);

    const Settings& settings_;
    Ports ports_;
    CommandBook& book_;
    Workloads& workloads_;
    Leases& leases_;
    Hooks hooks_;
    TenantIds tenant_ids_;
    PrivateImages private_images_;
    SilentPorts silent_;
    std::string host_;
    std::map<std::string, Lane> lanes_;  // By subject.
    std::set<std::string> images_;       // That were here when they were last needed.
    std::size_t heavy_ = 0;              // Starts and pulls that run.
    Signal heavy_ended_;
    JobPtr measuring_;         // What has all GPUs for itself; null: nobody.
    std::string on_way_back_;  // The GPU that is measured by itself; empty: none.
    Signal measuring_ended_;
    Queue<std::shared_ptr<const uplink::Command>> arrivals_{CommandBook::open_max};
    TaskGroup tasks_;
};

}  // namespace hostler::agent
