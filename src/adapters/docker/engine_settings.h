// What an engine is told of its host: where its socket and our folders are, how long calls may take.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adapters/docker/device_rules.h"
#include "adapters/docker/driver.h"
#include "adapters/docker/recipe.h"
#include "adapters/docker/registries.h"
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
    Duration news_time = std::chrono::hours{1};         // Longest silence of its events.
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

}  // namespace hostler::docker
