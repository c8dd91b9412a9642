#include "adapters/docker/prepare.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "adapters/docker/host_files.h"
#include "adapters/docker/inside.h"
#include "adapters/docker/seccomp.h"

namespace hostler::docker {

namespace {

std::int64_t own_limit(__rlimit_resource what) {
    rlimit limit{};
    ::getrlimit(what, &limit);
    return limit.rlim_max == RLIM_INFINITY ? std::int64_t{1} << 20
                                           : static_cast<std::int64_t>(limit.rlim_max);
}

// Memory that is locked counts as any other, and drivers for RDMA lock all of their buffers. -1: no limit.
std::int64_t locked_max() {
    rlimit limit{};
    ::getrlimit(RLIMIT_MEMLOCK, &limit);
    const rlimit none{limit.rlim_cur, RLIM_INFINITY};
    if (limit.rlim_max == RLIM_INFINITY || ::setrlimit(RLIMIT_MEMLOCK, &none) == 0) return -1;
    return static_cast<std::int64_t>(limit.rlim_max);
}

// Empty: none is.
std::string first_there(const std::vector<std::string>& programs) {
    const auto found = std::ranges::find_if(
        programs, [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; });
    return found == programs.end() ? std::string{} : *found;
}

}  // namespace

Result<CdiEdits> resolve_devices(const EngineSettings& settings, std::span<const std::string> names,
                                 std::span<const GpuFacts> gpus) {
    if (names.empty()) return CdiEdits{};
    auto cdi = Cdi::load(settings.cdi_folders);
    const auto defined = cdi.names();
    std::vector<GpuFacts> others;
    for (const auto& gpu : gpus)
        if (std::ranges::count(names, gpu.cdi_name) > 0 && std::ranges::count(defined, gpu.cdi_name) == 0)
            others.push_back(gpu);
    if (others.empty()) return cdi.resolve(names);
    const auto files = look_for_driver(settings.driver);
    for (const auto& gpu : others)
        if (const auto lacks = missing(gpu, files, settings.driver); !lacks.empty())
            return fail(Code::unavailable,
                        fmt::format("GPU {} cannot be given to containers: no CDI file defines it, and {}",
                                    gpu.uuid, fmt::join(lacks, "; ")),
                        std::string{Engine::gpu_unreachable});
    for (auto& file : describe(others, files, settings.driver)) cdi.add(std::move(file));
    return cdi.resolve(names);
}

Confinement confinement(const EngineSettings& settings) {
    std::int64_t pids = 32768;
    std::ifstream{"/proc/sys/kernel/pid_max"} >> pids;
    return {.log_bytes_max = settings.log_bytes_max,
            .files_max = std::min<std::int64_t>(own_limit(RLIMIT_NOFILE), 1 << 20),
            .processes_max = std::min(own_limit(RLIMIT_NPROC), pids),
            .locked_max = locked_max(),
            .seccomp_file = settings.state_folder + "/seccomp.json",
            .init = first_there(settings.inits)};
}

bool kernel_maps_layers() {
    utsname kernel{};
    int major = 0, minor = 0;
    std::int64_t namespaces = 0;
    std::ifstream{"/proc/sys/user/max_user_namespaces"} >> namespaces;
    return namespaces > 0 && ::uname(&kernel) == 0 &&
           std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&  // NOLINT(cert-err34-c)
           std::pair{major, minor} >= std::pair{5, 19};
}

Result<CdiEdits> prepare(const EngineSettings& settings, const ContainerSpec& spec, std::string_view resolver,
                         std::string_view user, std::span<const GpuFacts> gpus) {
    TRY(keep_file(settings.state_folder, "seccomp.json", seccomp_profile()));
    CdiEdits edits = TRY(resolve_devices(settings, spec.cdi_devices, gpus));
    for (auto& node : edits.nodes) TRY(find_device(node, settings.device_folder));
    // An engine would make what is missing, as an empty folder.
    for (const auto& mount : spec.mounts)
        if (::access(mount.source.c_str(), F_OK) != 0)
            return fail(Code::invalid, fmt::format("mount source {} is not on this host", mount.source));
    for (const auto& mount : edits.mounts)
        if (::access(mount.host_path.c_str(), F_OK) != 0)
            return fail(Code::not_found,
                        fmt::format("CDI asks to mount {}, which is not on this host", mount.host_path));
    std::ranges::move(TRY(lay_files(settings.state_folder, spec, resolver)),
                      std::back_inserter(edits.mounts));
    std::ranges::move(TRY(lay_secrets(settings.secret_folder, spec, user)), std::back_inserter(edits.mounts));
    return edits;
}

}  // namespace hostler::docker
