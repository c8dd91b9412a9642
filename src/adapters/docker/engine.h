// The Engine port over the Docker Engine API: dockerd or podman.
#pragma once

#include "adapters/docker/api.h"
#include "adapters/docker/bodies.h"
#include "adapters/docker/device_rules.h"
#include "adapters/docker/driver.h"
#include "adapters/docker/held_logs.h"
#include "adapters/docker/recipe.h"
#include "adapters/docker/registries.h"
#include "core/worker.h"
#include "ports/engine.h"
#include "ports/engine_events.h"
#include "ports/images.h"
#include "ports/layers.h"
#include "ports/names.h"

namespace hostler::docker {

struct EngineSettings {
    std::string socket;                                                // "/run/podman/podman.sock"
    std::vector<std::string> cdi_folders{"/etc/cdi", "/var/run/cdi"};  // A later one wins.
    std::function<std::vector<GpuFacts>()> gpus{};      // Of this host, for those that no CDI file defines.
    DriverRoots driver{};                               // Where what containers need of them is looked for.
    Duration call_time = std::chrono::seconds{15};      // One question to the engine.
    Duration start_time = std::chrono::minutes{2};      // Create and start, each.
    Duration news_time = std::chrono::hours{1};         // Without a word; then it is asked anew.
    Duration pull_idle_time = std::chrono::minutes{1};  // Without any word of progress.
    Duration pull_time = std::chrono::minutes{60};
    std::int64_t log_bytes_max = 10 << 20;  // Kept by the engine, per container.
    std::string kernel_log = "/dev/kmsg";
    Registries registries{};                             // That need not be public.
    Names* names = nullptr;                              // Null: no other registry is asked.
    Duration names_time = std::chrono::seconds{10};      // For a registry's addresses.
    std::vector<Recipe> recipes{};                       // Of images that are made here.
    Duration build_idle_time = std::chrono::minutes{5};  // Without a word from a step.
    Duration build_time = std::chrono::minutes{30};      // One image.
    std::string state_folder = "/run/hostler";  // Of ours, readable by the engine: what it wants as files.
    std::string secret_folder = "/dev/hostler-secrets";  // Of ours, in memory alone.
    std::string device_folder = "/dev/hostler";      // Of ours, where device nodes count: no `nodev` there.
    std::string rules_folder = device_rules_folder;  // Of ours, where the hook of podman's service looks.
    bool user_namespaces =
        true;  // Off: root of a container is root of the host, where the engine lets us choose.
    // The init for containers of podman: the first that exists. Dockerd brings an init.
    std::vector<std::string> inits{"/usr/bin/tini-static", "/usr/bin/catatonit",
                                   "/usr/libexec/podman/catatonit"};
    Layers* layers = nullptr;  // What limits the disk of containers; outlives the engine. Null: nothing does.
};

// What an imported image says of itself.
struct ImageChanges {
    std::vector<std::string> entrypoint{};
    std::vector<std::string> command;
    std::map<std::string, std::string> environment;
    std::vector<int> ports;  // TCP.
};

class DockerEngine final : public Engine, public Images, public EngineEvents {
public:
    // `worker` does what blocks: CDI files, looks into containers, the kernel's log.
    DockerEngine(Net& net, Timers& timers, Worker& worker, EngineSettings settings);

    Task<EngineFacts> describe() override;
    Task<> pull(ImageWanted image, PullSeen seen) override;
    Task<Container> launch(ContainerSpec spec) override;
    Task<StopEnd> stop(std::string name, Duration grace) override;
    Task<> remove(std::string name, LayerEnd layer) override;
    using Engine::remove;
    Task<std::vector<Container>> list(std::string label, std::string value) override;
    Task<LogPart> logs(std::string name, LogsWanted wanted) override;
    // The same, of the engine: for logs that lie in no file of ours to read.
    Task<LogPart> ask_for_logs(std::string name, LogsWanted wanted);
    Task<std::vector<std::string>> image_names() override;
    Task<> follow(std::string label, std::string value, std::function<void(EngineNews)> tell) override;
    Task<> answers() override;

    // An image from the archive of its root file system; an older one of this name loses it.
    Task<> import_image(std::string archive, std::string name, ImageChanges changes);
    Task<bool> has_image(std::string name);

private:
    Task<> check_registry(std::string image);
    Task<> make_image(Recipe recipe, PullSeen seen);
    Task<> make_root_file_system(Recipe recipe);
    Task<> build_image(Recipe recipe, PullSeen seen);
    Task<> import(Payload archive, std::string name, Query changes, Duration within);
    Task<Traits> traits();
    EngineFacts facts(const Traits& traits) const;
    Task<std::optional<Inspected>> inspect(std::string name);
    Task<std::string> image_facts(std::string image);
    Task<bool> is_usable(std::string image);
    Task<> remove_container(std::string name, LayerEnd layer);
    Task<> remove_its_files(std::string name);  // That were laid for it.
    Task<std::string> disk_unlimited();
    Task<std::uint64_t> make_disk(const ContainerSpec& spec, std::string id);
    Task<std::uint64_t> limit_disk(const ContainerSpec& spec, const Inspected& there);
    Task<> make_volume_folders(const ContainerSpec& spec, const Inspected& there);
    Task<> remove_left_namespaces(std::string name, std::string last);
    Task<std::string> resolver(const ContainerSpec& spec);
    Task<Container> make(const ContainerSpec& spec, const CdiEdits& edits);
    Task<Inspected> find_taken(const ContainerSpec& spec);
    Task<Inspected> create(const ContainerSpec& spec, const CdiEdits& edits);
    Task<Container> start(const ContainerSpec& spec, const CdiEdits& edits, std::string id,
                          std::uint64_t disk_bytes);
    Task<Container> start_and_look(const ContainerSpec& spec, std::string id, const CdiEdits& edits,
                                   std::uint64_t disk_bytes);
    Task<std::optional<Container>> adopt(const ContainerSpec& spec, const Inspected& there);
    Task<> note_out_of_memory(std::vector<Inspected>& seen);
    // logs.cpp
    Task<> note_log(Inspected there);
    Task<> note_logs(std::vector<Inspected> running);
    Task<std::optional<LogFile>> log_file(std::string name);

    Timers& timers_;
    Worker& worker_;
    EngineSettings settings_;
    Api api_;
    std::optional<Traits> traits_;
    std::map<std::string, bool>
        oom_known_;  // By container id: kernels forget, and reading the log is not free.
    std::map<std::string, std::vector<std::string>> image_volumes_;  // By image id.
    std::set<std::string> unlisted_told_;  // Ids of containers that the engine cannot list.
    struct KnownLog {
        std::string id;
        std::optional<LogFile> file;
    };
    std::map<std::string, KnownLog> logs_known_;  // By the container's name.
    std::shared_ptr<HeldLogs> held_logs_ = std::make_shared<HeldLogs>();
};

}  // namespace hostler::docker
