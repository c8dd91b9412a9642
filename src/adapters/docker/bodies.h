// What is said to the engine and what it answers, as JSON: no I/O.
#pragma once

#include <optional>

#include "adapters/docker/api.h"
#include "adapters/docker/cdi.h"
#include "adapters/docker/folders.h"
#include "adapters/docker/log_file.h"
#include "ports/engine.h"
#include "ports/network.h"

namespace hostler::docker {

// The same API is answered by two engines that differ in places.
enum class Dialect { docker, podman };

struct Traits {
    Dialect dialect = Dialect::docker;
    std::string version;  // "4.3.1"
    int cgroup_version = 1;
    std::int64_t cpus = 0;  // Of its machine; 0: it does not say.
    IdRange shared_ids{};   // Docker's own mapping, when it has one.
    std::string storage{};  // The driver of its layers: "overlay", "overlay2".
    std::string root{};     // The folder of all that it keeps: "/var/lib/docker".
};

// What holds for every container, whoever it belongs to.
struct Confinement {
    std::int64_t log_bytes_max = 10 << 20;
    std::int64_t files_max = 0;      // RLIMIT_NOFILE; 0: the engine's own.
    std::int64_t processes_max = 0;  // RLIMIT_NPROC; 0: the engine's own.
    std::int64_t locked_max = -1;  // RLIMIT_MEMLOCK in bytes; -1: none. It counts as the container's memory.
    std::string seccomp_file;      // Where seccomp_profile() lies, for the engine that wants a file.
    std::string init;              // Of podman: the same of the init; empty: this host has none.
};

// The path to POST create_body() to.
std::string create_path(const ContainerSpec& spec, Dialect dialect);
// Podman's mapping of users is not in the API that both have, so that the two get bodies of different forms.
// Errors: invalid, naming the field; not_found (init_missing).
Result<std::string> create_body(const ContainerSpec& spec, const CdiEdits& edits, const Traits& traits,
                                const Confinement& confinement, std::string_view image_library_path = {});

std::string network_body(const NetworkSpec& spec, std::string_view owner, Dialect dialect);
// The bridge of a network: at most 15 letters, the same for the same id.
std::string bridge_name(std::string_view network_id);
inline constexpr std::string_view bridge_prefix = "hst";

// GET /version and GET /info. Errors: unavailable (not what an engine answers).
Result<Traits> parse_traits(std::string_view version, std::string_view info);

struct Inspected {
    std::string id;
    Container container;
    std::int64_t pid = 0;  // 0 when it does not run.
    std::vector<std::string> addresses{};
    std::string image{};  // Its id.
    std::string layer{};  // The folder where overlayfs keeps what it writes, and works; empty: not known.
    std::vector<std::string> image_layers{};  // What lies below that, the topmost first.
    std::vector<ImageVolume> volumes{};       // That the engine has made for it.
    std::string network_namespace{};          // Its file; empty: it has none now.
    std::optional<LogFile> log{};             // Where that can be read.
};

// `root`: as Traits has it, to find Docker's logs.
Result<Inspected> parse_inspect(std::string_view body, std::string_view root = {});
// GET /containers/json: only what it tells (no exit codes).
Result<std::vector<Inspected>> parse_list(std::string_view body);
// Whether this event of GET /events, of a container, may have changed what the list shows of it. What is not
// known here may.
bool changes_a_container(std::string_view event);

// GET /images/json: every name of each, in full; sorted, each once.
Result<std::vector<std::string>> parse_images(std::string_view body);

struct SeenNetwork {
    std::string id;  // Ours: the label.
    std::string subnet;
    std::string gateway;
    std::string bridge;
};

Result<SeenNetwork> parse_network(std::string_view body);
Result<std::vector<SeenNetwork>> parse_networks(std::string_view body);

// The value of LD_LIBRARY_PATH in GET /images/x/json; empty: none.
std::string image_library_path(std::string_view body);
// Who runs it, in the same: "", "1000:1000", "node".
std::string image_user(std::string_view body);
// In the same: "amd64"; empty: it is not said.
std::string image_architecture(std::string_view body);
// The folders that it declares as volumes, in the same.
std::vector<std::string> image_volumes(std::string_view body);
// What an engine says is wrong: its "message", or the body's beginning.
std::string error_text(std::string_view body);
// There is no such container. Podman calls it an error of its own when one goes while it looks.
bool is_gone(int status, std::string_view body);
// Podman refuses to show containers when the process of one ends while it reads that process' files in /proc.
bool ended_meanwhile(int status, std::string_view body);
// The error in the stream of progress that answers a pull; nullopt: it went well.
std::optional<std::string> pull_error(std::string_view stream);
// The Error for a pull that ended with `words`: not_found (the registry does not have it), forbidden (not
// without signing in; registry_untrusted: no TLS, or not that of somebody known), unavailable (the registry
// does not answer), invalid (no image's name), exhausted (disk full).
Error pull_refused(std::string_view image, std::string_view words);
// What is wrong with the image itself when a container of it cannot start, in words for its tenant: invalid,
// with reason image_user or image_command. nullopt: it is something else.
std::optional<Error> image_fault(std::string_view image, std::string_view words);
// The same of what an init wrote (tini) whose program could not be begun.
std::optional<Error> init_fault(std::string_view image, std::string_view log);
// An engine that was killed while it started the container has forgotten that its runtime made it already.
bool is_half_made(std::string_view words);
bool is_address_taken(std::string_view words);
bool says_no_init(std::string_view words);  // Dockerd's, of an init that it does not find.
bool says_disk_full(std::string_view words);
bool says_no_image(std::string_view words);  // The one that a container is to be made of.
// The Error for an answer that is not a success. `what` begins the sentence: "container x cannot start".
Error engine_error(int status, std::string_view body, std::string_view what);
// The same of a call without a spec that could be refused: 500 says that the engine is not well.
Error call_error(const Answer& answer, std::string_view what);
// The container cannot be removed just now, and soon can be.
bool is_being_removed(int status, std::string_view body);
// The engine has another container of this name.
bool is_name_taken(int status, std::string_view body);

inline constexpr const char* network_label = "hostler.network";
inline constexpr const char* owner_label = "hostler.owner";

}  // namespace hostler::docker
