// The Engine port over the Docker Engine API: dockerd or podman.
#pragma once

#include "adapters/docker/api.h"
#include "adapters/docker/bodies.h"
#include "adapters/docker/engine_settings.h"
#include "adapters/docker/held_logs.h"
#include "core/signal.h"
#include "core/worker.h"
#include "ports/engine.h"
#include "ports/engine_events.h"
#include "ports/images.h"

namespace hostler::docker {

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
    Task<Traits> traits();
    Task<Traits> ask_traits();
    EngineFacts facts(const Traits& traits) const;
    Task<std::optional<Inspected>> inspect(std::string name);
    Task<> remove_container(std::string name, LayerEnd layer);
    Task<> remove_its_files(std::string name);  // That were laid for it.
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
    // container_disk.cpp
    Task<std::string> disk_unlimited();
    Task<std::uint64_t> make_disk(const ContainerSpec& spec, std::string id);
    Task<std::uint64_t> limit_disk(const ContainerSpec& spec, const Inspected& there);
    Task<> make_volume_folders(const ContainerSpec& spec, const Inspected& there);
    // images.cpp
    Task<std::string> image_facts(std::string image);
    Task<bool> is_usable(std::string image);
    Task<> check_registry(std::string image);
    // build.cpp
    Task<> make_image(Recipe recipe, PullSeen seen);
    Task<> make_root_file_system(Recipe recipe);
    Task<> build_image(Recipe recipe, PullSeen seen);
    Task<> import(Payload archive, std::string name, Query changes, Duration within);
    // logs.cpp
    Task<> note_log(Inspected there);
    Task<> note_logs(std::vector<Inspected> running);
    Task<std::optional<LogFile>> log_file(std::string name);

    Timers& timers_;
    Worker& worker_;
    EngineSettings settings_;
    Api api_;
    std::optional<Traits> traits_;
    bool asking_ = false;     // What the engine is.
    std::uint64_t told_ = 0;  // How often that was answered, or was not,
    Result<Traits> said_{};   // and how the last time.
    Signal asked_;
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
