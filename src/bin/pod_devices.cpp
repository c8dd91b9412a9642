#include "bin/pod_devices.h"

#include <unistd.h>

#include <filesystem>

#include "adapters/docker/inside.h"
#include "adapters/docker/prepare.h"
#include "adapters/kubelet/devices.h"

namespace hostler::bin {

namespace {

namespace fs = std::filesystem;

// Where images made for NVIDIA's GPUs look (LD_LIBRARY_PATH), whatever their distribution.
constexpr const char* image_libraries = "/usr/local/nvidia/lib64";

// The description mounts them where this host has them, and an image of another distribution does not look
// there. A variable for it would take the place of the image's.
void mount_libraries(const std::vector<std::string>& folders, PodGrant& grant) {
    std::vector<PodGrant::Mount> more;
    for (const auto& mount : grant.mounts) {
        const fs::path path = mount.path;
        if (std::ranges::count(folders, path.parent_path().string()) == 0) continue;
        more.push_back({fs::path{image_libraries} / path.filename(), mount.host_path, mount.read_only});
    }
    std::ranges::move(more, std::back_inserter(grant.mounts));
}

}  // namespace

Result<PodGrant> pod_grant(const PodDeviceOptions& options, std::span<const GpuFacts> gpus) {
    docker::EngineSettings settings{.driver = {options.roots}};
    if (!options.cdi_folders.empty()) settings.cdi_folders = options.cdi_folders;
    std::vector<std::string> names;
    for (const GpuFacts& gpu : gpus) names.push_back(gpu.cdi_name);
    docker::CdiEdits edits = TRY(docker::resolve_devices(settings, names, gpus));
    PodGrant grant{.environment = std::move(edits.environment)};
    for (docker::CdiNode& node : edits.nodes) {
        TRY(docker::find_device(node, settings.device_folder));
        grant.nodes.push_back({node.path, node.source, node.permissions});
    }
    for (const docker::CdiMount& mount : edits.mounts) {
        if (::access(mount.host_path.c_str(), F_OK) != 0)
            return fail(Code::not_found,
                        fmt::format("CDI asks to mount {}, which is not on this host", mount.host_path));
        grant.mounts.push_back({mount.path, mount.host_path, std::ranges::count(mount.options, "ro") > 0});
    }
    mount_libraries(edits.library_folders, grant);
    return grant;
}

std::unique_ptr<PodDevices> make_pod_devices(Loop& loop, PodDeviceOptions options) {
    return std::make_unique<kubelet::KubeletDevices>(
        loop, kubelet::Settings{.grant = [options = std::move(options)](std::span<const GpuFacts> gpus) {
            return pod_grant(options, gpus);
        }});
}

}  // namespace hostler::bin
