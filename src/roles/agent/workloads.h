// The containers of this host that are Hostler's, as they were last seen.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ports/engine.h"
#include "ports/journal.h"

namespace hostler::agent {

enum class WorkloadState { created, running, exited, absent };
BOOST_DESCRIBE_ENUM(WorkloadState, created, running, exited, absent)

struct Workload {
    std::string instance;
    std::uint64_t generation = 0;
    WorkloadState state = WorkloadState::absent;
    bool ready = false;  // Every probe has answered since it started.
    int exit_code = 0;
    bool oom_killed = false;
    std::string detail;                // For people.
    std::string address;               // In its network.
    std::string container;             // Its name on the engine,
    std::string container_id;          // and the engine's own id of it.
    std::vector<std::uint16_t> ports;  // To which tunnels may lead.
    std::vector<std::string> volumes;  // That it mounts.
    std::uint16_t jupyter_port = 0;    // Of a notebook server; 0: it has none.
    std::string jupyter_path;
    // For a master that does not know it.
    std::string tenant;
    std::string project;
    std::string name;
    std::string image;
    std::string network;
    std::vector<std::string> gpus;
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::map<std::uint16_t, std::string> probes;  // Path by port.
    std::vector<MountSpec> mounts;                // Of `volumes`, one for each.
    bool operator==(const Workload&) const = default;
};

// What each of our containers carries, so that it explains itself to an agent that knows nothing.
namespace label {
inline constexpr std::string_view host = "hostler.host";
inline constexpr std::string_view instance = "hostler.instance";
inline constexpr std::string_view generation = "hostler.generation";
inline constexpr std::string_view tenant = "hostler.tenant";
inline constexpr std::string_view project = "hostler.project";
inline constexpr std::string_view network = "hostler.network";
inline constexpr std::string_view address = "hostler.address";
inline constexpr std::string_view ports = "hostler.ports";      // "8080,22"
inline constexpr std::string_view volumes = "hostler.volumes";  // As ports.
inline constexpr std::string_view jupyter = "hostler.jupyter";  // "8888/path"
inline constexpr std::string_view name = "hostler.name";
inline constexpr std::string_view image = "hostler.image";
inline constexpr std::string_view gpus = "hostler.gpus";      // UUIDs, as ports.
inline constexpr std::string_view cpu = "hostler.cpu";        // Thousandths.
inline constexpr std::string_view memory = "hostler.memory";  // Bytes.
inline constexpr std::string_view probes = "hostler.probes";  // A line each: "8080/healthz", "22".
inline constexpr std::string_view mounts = "hostler.mounts";  // A line for each volume: "rw/data".
}  // namespace label

std::string container_name(std::string_view instance);
std::string instance_of(std::string_view container);  // Empty: it is no name of ours.
std::uint64_t generation_of(const Container& container);

class Workloads {
public:
    // `changed` is called with each instance that became something else.
    // An engine that answers again within `engine_grace` was started again: that is no fault of the host.
    Workloads(Engine& engine, Journal& journal, Timers& timers, Duration engine_grace,
              std::function<void(const Workload&)> changed)
        : engine_(engine),
          journal_(journal),
          timers_(timers),
          engine_grace_(engine_grace),
          changed_(std::move(changed)) {}

    void belong_to(std::string host) { host_ = std::move(host); }
    // Asks the engine. When it does not answer, what was known stays, and silence() tells why.
    Task<> refresh();
    // Asks for one instance alone: what is wrong with other containers of the host is no matter.
    Task<> refresh(std::string instance);
    void note_silent(std::string why);  // The engine did not answer at all.
    // Every instance seen and not yet confirmed to be gone, by name.
    const std::map<std::string, Workload>& all() const { return all_; }
    const Workload* find(const std::string& instance) const;
    // The last refresh() succeeded.
    bool known() const { return known_; }
    // And nothing can have happened since that nobody would have told.
    bool complete() const { return known_ && !doubted_; }
    void doubt() { doubted_ = true; }                                  // Until the next refresh().
    const std::string& silence() const { return silence_; }            // Empty: it has answered.
    const std::string& engine_error() const { return engine_error_; }  // The same once the grace is over.

    // A command has changed the container: refreshes that are under way know less than this.
    void note(const Container& container);
    void note_absent(const std::string& instance);
    void note_detail(const std::string& instance, std::string detail);
    // What the journal keeps of an instance that is ready, and that the journal has it by now.
    Journal::Entry readiness(const std::string& instance, std::uint64_t generation) const;
    void note_ready(const std::string& instance);
    // Since when this run is waited for, by Timers::now_with_sleep(): `now`, or what an agent before this one
    // has kept.
    Instant probing_since(const std::string& instance, std::uint64_t generation, Instant now) const;
    // What is not kept is counted from the agent's next start: a comfort, whose failure stops nothing.
    Task<> keep_probing_since(std::string instance, std::uint64_t generation, Instant begun);
    // No tunnel leads to an instance that is being stopped.
    void note_stopping(const std::string& instance, bool stopping);
    bool stopping(const std::string& instance) const { return stopping_.contains(instance); }

private:
    Workload of(const Container& container) const;
    bool is_ready(const Workload& workload) const;  // Says the journal.
    void put(Workload workload);
    Task<> forget_ready();

    Engine& engine_;
    Journal& journal_;
    Timers& timers_;
    Duration engine_grace_;
    std::function<void(const Workload&)> changed_;
    std::string host_;
    std::map<std::string, Workload> all_;
    std::set<std::string> stopping_;
    std::uint64_t noted_ = 0;  // Rises whenever a command changes something.
    bool known_ = false;
    bool doubted_ = false;
    std::string silence_, engine_error_;
    Instant grace_ends_ = Instant::min();  // An engine that has never answered has none.
};

}  // namespace hostler::agent
