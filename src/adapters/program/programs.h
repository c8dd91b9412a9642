// Programs of a state folder: started, looked at, ended and removed. All calls block.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/program/control_groups.h"
#include "adapters/program/plan.h"
#include "adapters/program/records.h"
#include "ports/engine.h"

namespace hostler::program {

// How devices are kept from programs, beside the lack of nodes for them: their /dev has only what is
// permitted, no other mount lets a device open, and they cannot make nodes.
enum class DeviceLimit {
    groups_1,     // By the hierarchy `devices` of version 1.
    filter_2,     // By a BPF program of version 2.
    mounts_only,  // By nothing else.
};

struct Limits {
    int cgroup_version = 1;
    DeviceLimit devices = DeviceLimit::mounts_only;
};

class Programs {
public:
    explicit Programs(ProgramSettings settings) : settings_(std::move(settings)) {}

    // What is limited by what. Errors: unavailable (no root, no control groups).
    Result<Limits> limits();

    // As Engine::launch(). `devices` may be null where the spec claims none.
    Result<Container> start(const ContainerSpec& spec, const ResolveDevices& devices);
    // What is left of a program whose holder was killed is ended by looking at it. nullopt: there is none.
    // Errors: unavailable.
    std::optional<Container> look(const std::string& name);
    std::vector<Container> all();
    bool has(const std::string& name) const;
    // To its holder, which does the rest. What does not run needs none.
    void ask_to_stop(const std::string& name, std::int64_t grace_ms);
    // How it ended; nullopt: it runs, or there is none.
    std::optional<Ending> ending(const std::string& name);
    // Of a program that has ended. Errors: conflict (it runs), unavailable.
    Result<> remove(const std::string& name);
    Result<LogPart> log(const std::string& name, const LogsWanted& wanted);

    const std::string& state_folder() const { return settings_.state_folder; }

private:
    struct Prepared {
        Plan plan;
        Record record;
        std::vector<GroupDevice> devices;
        std::vector<GroupPlan> groups;
    };

    std::string folder_of(const std::string& name) const {
        return settings_.state_folder + "/programs/" + name;
    }
    Result<> make_state_folder() const;
    Result<Prepared> prepare(const ContainerSpec& spec, const ResolveDevices& devices) const;
    Result<std::uint32_t> free_user() const;
    Result<Lock> claim_folder(Prepared& prepared) const;
    Result<> make_program_groups(const Prepared& prepared);
    Result<> hold(const Prepared& prepared, Lock alive) const;
    std::optional<Container> container_of(const Record& record, const std::string& folder);
    Ending settle(const Record& record, const std::string& folder);
    void clear(const std::string& folder) const;
    void clear_half_made(const std::string& folder) const;

    ProgramSettings settings_;
    bool unfiltered_told_ = false;
};

}  // namespace hostler::program
