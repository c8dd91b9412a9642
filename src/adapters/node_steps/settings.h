// How this host does steps of clusters.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_files.h"

namespace hostler::node_steps {

// `hostler-agent keep-program FOLDER`, for no one to run by hand.
inline constexpr const char* keep_command = "keep-program";

// Below the folder: where steps keep their files, {{agent.folder}}. Gone with the last node.
inline constexpr const char* files_folder = "files";

struct StepSettings {
    std::string folder;               // "/var/lib/hostler-agent/clusters": absolute, of ours alone.
    std::vector<std::string> keeper;  // {"/proc/self/exe", keep_command}: runs keep_main().
    bool systemd = false;             // Programs are its units; else they have keepers.
    std::string group_parent = "hostler-clusters";  // Of control groups, below the root of each hierarchy.
    // The whole environment of commands and programs.
    std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    std::string containerd = "/run/containerd/containerd.sock";
    // Services of the driver have GPUs open whatever runs on the host: they are not left of a cluster.
    std::vector<std::string> gpu_services{"nvidia-persistenced", "nv-fabricmanager", "nv-hostengine",
                                          "dcgm-exporter", "nvidia-smi"};
    KernelRoots roots;
};

// Whether systemd is the init of this host.
bool has_systemd();
std::vector<std::string> environment_of(const StepSettings& settings);

}  // namespace hostler::node_steps
