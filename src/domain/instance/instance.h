// An instance: one container for one tenant, with an address of its own.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/timers.h"
#include "domain/instance/life.h"
#include "domain/instance/schedule.h"
#include "domain/labels.h"
#include "domain/object.h"
#include "domain/scheduler/wishes.h"

namespace hostler {

struct InstancePort {
    int port = 0;  // 1..65535
    std::string protocol = "TCP";
    bool is_public = false;  // Anybody may open it.
    bool is_probe = false;   // Must answer before the instance is running.
    std::string base_url;    // The path that the URL ends in; a probe asks for it.
    int own_port = 0;        // The gateway's port that is this one's alone; 0: it has a name instead.
    bool operator==(const InstancePort&) const = default;
};
BOOST_DESCRIBE_STRUCT(InstancePort, (), (port, protocol, is_public, is_probe, base_url, own_port))

struct InstanceVariable {
    std::string name;
    std::string value;
    bool operator==(const InstanceVariable&) const = default;
};
BOOST_DESCRIBE_STRUCT(InstanceVariable, (), (name, value))

struct InstanceVolume {
    std::string volume;  // Id.
    std::string path;    // Where it is mounted, absolute.
    bool read_only = false;
    bool operator==(const InstanceVolume&) const = default;
};
BOOST_DESCRIBE_STRUCT(InstanceVolume, (), (volume, path, read_only))

// A value of its project's secrets that it is given when it starts: by name, as it is then.
struct InstanceSecret {
    std::string secret;    // Its name.
    std::string key;       // Empty, for a file: a folder with a file of each key.
    std::string variable;  // Where the program finds it: in a variable,
    std::string path;      // or in a file.
    bool operator==(const InstanceSecret&) const = default;
};
BOOST_DESCRIBE_STRUCT(InstanceSecret, (), (secret, key, variable, path))

// What becomes of it when its host is silent.
enum class LossPolicy {
    stay,  // It runs on there, and nowhere else.
    move,  // It stops after a while without a master's word, and is then begun elsewhere.
};
BOOST_DESCRIBE_ENUM(LossPolicy, stay, move)

// What its owner wants, as it was made.
struct InstanceSpec {
    std::string image;
    std::vector<std::string> command;  // Empty: the image's own.
    std::vector<InstanceVariable> environment;
    std::vector<InstancePort> ports;
    std::vector<InstanceVolume> volumes;
    std::string template_name;  // It was started from; empty: none.
    int jupyter_port = 0;       // Where a notebook server tells whether it is used; 0: there is none.
    std::string jupyter_path;   // Under which it serves.
    std::string zone;           // Where it is wanted; empty: anywhere.
    LossPolicy loss_policy = LossPolicy::stay;
    std::optional<Wishes> placement;
    std::vector<InstanceSecret> secrets;
    bool replaces_entrypoint = false;     // The image's ENTRYPOINT counts for nothing,
    std::vector<std::string> entrypoint;  // and this does; empty: none.
    std::int64_t shm_bytes = 0;           // Of /dev/shm; 0: half of its memory.
    std::int64_t stop_grace_s = 0;        // Between SIGTERM and SIGKILL; 0: the operator's default.
    bool no_init = false;                 // Its program is process 1 itself.
    bool program = false;                 // It runs without a container and has no image.
    bool operator==(const InstanceSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(InstanceSpec, (),
                      (image, command, environment, ports, volumes, template_name, jupyter_port, jupyter_path,
                       zone, loss_policy, placement, secrets, replaces_entrypoint, entrypoint, shm_bytes,
                       stop_grace_s, no_init, program))

// A place that it moved away from, and whose host has not yet said that nothing of it runs there.
struct LeftPlace {
    std::string host;
    std::string claim;
    std::string subnet;
    std::int64_t since = 0;
    bool operator==(const LeftPlace&) const = default;
};
BOOST_DESCRIBE_STRUCT(LeftPlace, (), (host, claim, subnet, since))

// One container of an instance, from its start to its end.
struct InstanceRun {
    static constexpr std::size_t kept_max = 16;  // Of an instance: the newest.
    std::uint64_t generation = 0;
    std::string host;
    std::int64_t started_at = 0;  // Microseconds since 1970; 0: not so far.
    std::int64_t ready_at = 0;
    std::int64_t ended_at = 0;
    std::string reason;  // Why it was over, as a token.
    std::optional<int> exit_code;
    std::int64_t killed_after_s = 0;  // It had not ended so long after SIGTERM, and got SIGKILL; 0: no.
    bool operator==(const InstanceRun&) const = default;
};
BOOST_DESCRIBE_STRUCT(InstanceRun, (),
                      (generation, host, started_at, ready_at, ended_at, reason, exit_code, killed_after_s))

// Processes of a run that were killed for want of memory, as an event has told.
struct InstanceKills {
    std::uint64_t generation = 0;  // Of the run.
    std::int64_t count = 0;
    std::string process;       // The name of the last one; empty: not known.
    std::int64_t told_at = 0;  // When the last event was made.
    bool operator==(const InstanceKills&) const = default;
};
BOOST_DESCRIBE_STRUCT(InstanceKills, (), (generation, count, process, told_at))

// What an instance is a part of, and what alone changes and deletes it: a job, a service.
struct Owner {
    std::string kind;  // A DNS label: "job".
    std::string id;    // Of the kind, unique in the cloud.
    std::string path() const { return kind + "/" + id; }
    bool operator==(const Owner&) const = default;
};
BOOST_DESCRIBE_STRUCT(Owner, (), (kind, id))

struct Instance {
    std::string id;         // "i-7f3k2m9qxy": ours.
    std::string caller_id;  // The caller's instanceID, of one instance of the tenant at a time.
    std::string tenant;
    std::string project = "default";
    std::string tenant_name;
    std::string spec_name;
    InstanceSpec spec;
    std::string request_digest;  // Of the body that made it: the same again is the same instance.
    InstancePhase phase = InstancePhase::placed;
    std::string reason;   // A token,
    std::string message;  // a sentence: why it is in this phase.
    std::string host;
    std::string zone;
    std::string claim;
    std::string slot;                  // The stock slot that it is in; empty: placed directly.
    std::string subnet;                // Its project's network on this host.
    std::string address;               // In it.
    std::uint64_t run_generation = 1;  // That of its container; stopping raises only the instance's own.
    std::optional<int> exit_code;
    std::int64_t created_at = 0;  // Microseconds since 1970; 0: not so far.
    std::int64_t started_at = 0;
    std::int64_t ready_at = 0;   // Of this run, as started_at.
    std::int64_t ended_at = 0;   // Or since when it rests.
    std::int64_t ran_since = 0;  // When it first was ready since it was started; a restart does not count.
    StopSchedule schedule;
    Labels labels;                  // As its owner gave them; no host is told.
    std::int64_t told_of_stop = 0;  // Its people were told that it stops then; 0: they were not.
    bool unused_stop_sent = false;  // Its host was told to stop it if nobody uses it, and may have.
    bool deleted = false;           // Its owner deleted it: once it has ended its name is free,
    bool name_passed_on = false;    // and another instance has it by now.
    bool adopted = false;           // It ran before we knew of it: its command and variables are not known.
    std::vector<InstanceRun> runs;  // Those that are over, the newest last.
    std::vector<LeftPlace> left;
    std::int64_t lease_ms = 0;  // Of loss policy `move`: the longest that its host was given in this place.
    // Where what it wrote beside its volumes outlives its container; empty: nowhere.
    std::string layer_host;
    InstanceKills memory_kills;
    std::optional<Owner> owner;  // From its creation on; nullopt: it is a caller's own.
    std::string created_by{};    // "user/u-…", "account/sa-…", "key/k-…"; empty: not known.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Instance, (),
                      (id, caller_id, tenant, tenant_name, spec_name, spec, request_digest, phase, reason,
                       message, host, zone, claim, slot, subnet, address, run_generation, exit_code,
                       created_at, started_at, ready_at, ended_at, ran_since, schedule, told_of_stop,
                       unused_stop_sent, deleted, name_passed_on, adopted, runs, left, lease_ms, layer_host,
                       labels, memory_kills, project, owner, created_by))

// The reason of one whose program ended by itself, with exit code 0.
inline constexpr std::string_view completed = "completed";

// It ended by itself, and its owner may change its spec and start it once more. The task of a job or the
// replica of a service is replaced by its job or service instead.
inline bool is_repairable(const Instance& instance) {
    return !instance.owner && (instance.phase == InstancePhase::failed || instance.reason == completed) &&
           is_final(instance.phase) && !instance.deleted && !instance.adopted;
}

// That an instance's name was used, kept when the instance itself is no longer answered for.
struct UsedName {
    std::string id;  // As id_of() makes it.
    std::string instance;
    bool free = false;  // That instance was deleted: another may have its name.
    Meta meta;
    static std::string id_of(const std::string& tenant, const std::string& caller_id) {
        return tenant + "/" + caller_id;
    }
};
BOOST_DESCRIBE_STRUCT(UsedName, (), (id, instance, free))

}  // namespace hostler
