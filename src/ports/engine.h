// A host's container engine, as the agent asks it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/log_lines.h"
#include "core/timers.h"
#include "ports/id_range.h"
#include "ports/layers.h"

namespace hostler {

// Whether a container's root is root of the host.
enum class UserNamespaces {
    none,    // It is.
    shared,  // The engine maps all containers to one range of its own.
    chosen,  // Each container to the range that it asks for.
};

struct EngineFacts {
    std::string name;  // "podman 4.3.1"
    int cgroup_version = 1;
    bool simulated = false;
    UserNamespaces user_namespaces = UserNamespaces::none;
    IdRange shared_ids{};          // With UserNamespaces::shared.
    std::string disk_unlimited{};  // Why ContainerSpec::disk_bytes limits nothing, in words; empty: it does.
    bool programs = false;         // It runs programs without containers.
};

// A source that is a folder of mode 0 is new: the engine gives it the owner and mode of the folder that it
// covers in the image, or mode 0777 where the image has none there.
struct MountSpec {
    std::string source;  // On the host, absolute.
    std::string target;  // In the container, absolute.
    bool read_only = false;
    bool operator==(const MountSpec&) const = default;
};

// A secret that a container finds as a file in memory. It is read-only, and only the user of the image can
// read it.
struct SecretFileSpec {
    std::string path;  // In the container, absolute.
    std::string text;
    bool operator==(const SecretFileSpec&) const = default;
};

struct ContainerSpec {
    std::string name;                           // Unique on the engine.
    std::map<std::string, std::string> labels;  // "hostler.host", "hostler.instance", "hostler.generation", …
    std::string image;
    std::vector<std::string> command;  // Empty: the image's own, unless the entry point is replaced.
    // In place of the image's entry point; empty: none. nullopt: the image's own.
    std::optional<std::vector<std::string>> entrypoint{};
    // Its program is process 1 itself. Else an init is, which passes signals on and reaps orphans.
    bool no_init = false;
    std::map<std::string, std::string> environment;
    std::int64_t cpu_milli = 0;  // 0: no limit; so for the next two.
    std::int64_t memory_bytes = 0;
    std::int64_t pids_max = 0;
    std::int64_t shm_bytes = 0;            // Of /dev/shm; 0: the engine's default.
    std::int64_t disk_bytes = 0;           // Of what it writes beside its mounts, where EngineFacts let it.
    bool disk_limit_required = false;      // It does not start where they do not.
    LayerStart layer = LayerStart::empty;  // What it begins with, where its disk is limited.
    LayerEnd layer_end = LayerEnd::lost;   // What becomes of that when its start fails.
    std::vector<std::string> cdi_devices;  // "nvidia.com/gpu=GPU-…"
    std::vector<MountSpec> mounts;
    std::vector<SecretFileSpec> secret_files{};
    std::string network;  // HostNetwork's id; empty: none.
    std::string gateway;  // Of that network, where its resolver answers; empty: the engine is asked for it.
    std::string address;  // In that network.
    std::string hostname;
    IdRange ids{};  // Obeyed where EngineFacts say `chosen`.
    // It runs without a container, on the software of the host, where EngineFacts let it. Image, entry point,
    // network and address mean nothing then.
    bool program = false;
};

enum class ContainerState { created, running, exited };

struct Container {
    std::string name;
    std::map<std::string, std::string> labels;
    ContainerState state = ContainerState::created;
    int exit_code = 0;
    bool oom_killed = false;
    std::string error;  // The engine's own words, when it could not start.
    std::string id{};   // The engine's own, as control groups of its processes are named; empty: it has none.
    bool operator==(const Container&) const = default;
};

// How much of an image has come, of the parts whose size is known by now; or what is done to make it here.
struct PullProgress {
    std::uint64_t bytes = 0;
    std::uint64_t bytes_known = 0;
    std::string step{};
    std::uint64_t layers = 0;  // That have come whole,
    std::uint64_t layers_known = 0;
};
using PullSeen = std::function<void(PullProgress)>;

struct RegistryLogin {
    std::string server;  // As names of its images begin.
    std::string username;
    std::string password;
    bool operator==(const RegistryLogin&) const = default;
};

// An image that is to be here.
struct ImageWanted {
    ImageWanted(std::string image) : name(std::move(image)) {}  // NOLINT(google-explicit-constructor)
    ImageWanted(const char* image) : name(image) {}             // NOLINT(google-explicit-constructor)
    std::string name;
    std::optional<RegistryLogin> login{};
    bool ask = false;  // Its registry decides whether it is given, also where the image is here.
};

// How a container that was to stop ended.
enum class StopEnd {
    ended,   // Within its grace, or before; or that is not known.
    killed,  // By SIGKILL, when its grace was over.
};

// Every call may be repeated: the caller retries after any failure. Errors everywhere: unavailable (the
// engine does not answer), timeout. An adapter may be used by many tasks at once.
class Engine {
public:
    // Reasons of launch().
    static constexpr std::string_view image_missing = "image_missing", name_taken = "name_taken",
                                      address_taken = "address_taken", layer_missing = "layer_missing",
                                      gpu_unreachable = "gpu_unreachable", init_missing = "init_missing";

    virtual ~Engine() = default;
    virtual Task<EngineFacts> describe() = 0;
    // Makes the image present. Succeeds at once when it is, and nobody is to be asked. `seen`, unless it is
    // empty, is told how far it is, as often as the engine likes. Errors: not_found (nobody has it; with
    // reason "image_build_failed": it is made here, and that failed), forbidden (its registry wants
    // credentials), unavailable with reason "registry_unreachable", exhausted (disk), invalid (that is no
    // image's name).
    virtual Task<> pull(ImageWanted image, PullSeen seen) = 0;
    // Creates and starts. What runs already under this name with the same labels is left alone and given
    // back; with other labels it is a conflict, name_taken. A device that is asked for is seen inside and
    // opens there, or the start fails and nothing stays (unavailable, gpu_unreachable); no other device
    // opens. Errors: not_found (image_missing: the image is not on this host; CDI device; layer_missing:
    // nothing was kept of what it is to begin with; init_missing: the host has no init), invalid (the engine
    // refuses the spec), exhausted (disk), conflict (address_taken: another container has the address, or the
    // engine lost one that had it when it was killed).
    virtual Task<Container> launch(ContainerSpec spec) = 0;
    // SIGTERM, or what the image names in its place; then SIGKILL after `grace`. What does not run or exist
    // is stopped.
    virtual Task<StopEnd> stop(std::string name, Duration grace) = 0;
    // Takes away what stop() left, and what it wrote unless that is to be kept. What does not exist is
    // removed; what was kept of it before is lost then, too, unless it is to be kept.
    virtual Task<> remove(std::string name, LayerEnd layer) = 0;
    Task<> remove(std::string name) { return remove(std::move(name), LayerEnd::lost); }
    // Those with this label value, whether they run or not. One that the engine cannot look at has an id and
    // an error, no name and no labels, and may run; stop() takes its id for its name.
    virtual Task<std::vector<Container>> list(std::string label, std::string value) = 0;
    // Of what it wrote, byte for byte, both streams in order, also what has no line break yet where the
    // engine lets it go. The last 10 MiB at least are there, as the engine writes them. Errors: not_found.
    virtual Task<LogPart> logs(std::string name, LogsWanted wanted) = 0;
};

}  // namespace hostler
