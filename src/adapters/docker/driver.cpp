#include "adapters/docker/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace hostler::docker {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t entries_max = 65'536;  // Of one folder.
constexpr std::size_t list_bytes_max = 1 << 16;

// Computing, video and what tells of a GPU; not what draws on a screen.
constexpr std::string_view library_names[] = {"libcuda",
                                              "libcudadebugger",
                                              "libnvidia-ml",
                                              "libnvidia-cfg",
                                              "libnvidia-nvvm",
                                              "libnvidia-nvvm70",
                                              "libnvidia-gpucomp",
                                              "libnvidia-ptxjitcompiler",
                                              "libnvidia-opencl",
                                              "libnvidia-compiler",
                                              "libnvidia-fatbinaryloader",
                                              "libnvidia-allocator",
                                              "libnvcuvid",
                                              "libnvidia-encode",
                                              "libnvidia-opticalflow",
                                              "libnvoptix",
                                              "libnvidia-rtcore",
                                              "libnvidia-pkcs11",
                                              "libnvidia-pkcs11-openssl3",
                                              "libnvidia-sandboxutils"};
// Without these a program computes nothing, or does not learn of its GPU.
constexpr std::string_view needed_libraries[] = {"libcuda", "libnvidia-ml"};
constexpr const char* program_names[] = {"/usr/bin/nvidia-smi", "/usr/bin/nvidia-debugdump"};
// For all GPUs. Those of MIG (nvidia-caps) are not among them: no slice is lent, and they would rule them.
constexpr const char* shared_nodes[] = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"};
constexpr const char* needed_nodes[] = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
constexpr const char* amd_node = "/dev/kfd";

std::string real(const DriverRoots& roots, const std::string& path) {
    constexpr std::string_view dev = "/dev";
    if (path.starts_with("/dev/")) return roots.kernel.dev + path.substr(dev.size());
    return roots.files + path;
}

bool is_version(std::string_view text) {
    return text.size() >= 3 && text.size() <= 32 && text.contains('.') &&
           std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

// The module tells, or "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build".
std::string driver_version(const KernelRoots& kernel) {
    for (const auto& path : {kernel.sys + "/module/nvidia/version", kernel.proc + "/driver/nvidia/version"}) {
        std::istringstream words{read_text(path, list_bytes_max).value_or("")};
        for (std::string word; words >> word;)
            if (is_version(word)) return word;
    }
    return {};
}

// Where linkers look, and where drivers of other distributions lie.
std::vector<std::string> library_folders(const DriverRoots& roots) {
    std::vector<std::string> folders;
    for (const char* machine : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
        folders.push_back(fmt::format("/usr/lib/{}", machine));
        folders.push_back(fmt::format("/usr/lib/{}/nvidia/current", machine));
    }
    for (const char* folder :
         {"/usr/lib64", "/usr/lib64/nvidia", "/usr/lib", "/usr/lib/nvidia", "/usr/local/lib",
          "/usr/local/nvidia/lib64", "/opt/nvidia/lib64", "/run/opengl-driver/lib"})
        folders.emplace_back(folder);
    std::vector<fs::path> lists;
    std::error_code error;
    for (fs::directory_iterator at{roots.kernel.etc + "/ld.so.conf.d", error}, end; !error && at != end;
         at.increment(error))
        lists.push_back(at->path());
    std::ranges::sort(lists);
    for (const auto& list : lists) {
        std::istringstream lines{read_text(list.string(), list_bytes_max).value_or("")};
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with('/') && line.find_first_of(" \t#") == line.npos) folders.push_back(line);
    }
    return folders;
}

bool is_of_driver(std::string_view file, std::string_view version) {
    const auto name = file.substr(0, file.find(".so."));
    return file.size() == name.size() + 4 + version.size() && file.ends_with(version) &&
           std::ranges::find(library_names, name) != std::end(library_names);
}

// The libraries of a folder, and the links that lead to each.
void list_libraries(DriverFiles& found, const DriverRoots& roots) {
    std::vector<std::pair<std::string, fs::path>> links;
    std::error_code error;
    std::size_t seen = 0;
    for (fs::directory_iterator at{roots.files + found.library_folder, error}, end;
         !error && at != end && ++seen <= entries_max; at.increment(error)) {
        const auto name = at->path().filename().string();
        std::error_code gone;
        const auto target = fs::canonical(at->path(), gone);
        if (gone || !name.contains(".so")) continue;
        if (is_of_driver(name, found.version))
            found.libraries[name];
        else if (at->is_symlink(gone))
            links.emplace_back(name, target);
    }
    for (auto& [name, to] : found.libraries) {
        const auto file = fs::canonical(roots.files + found.library_folder + "/" + name, error);
        for (const auto& [link, target] : links)
            if (target == file) to.insert(link);
        // As programs ask for it, where ldconfig has not run.
        const auto stem = name.substr(0, name.find(".so."));
        if (to.empty()) to.insert(stem + (stem == "libnvidia-nvvm" ? ".so.4" : ".so.1"));
    }
}

bool has(const DriverFiles& files, std::string_view library) {
    return files.libraries.contains(fmt::format("{}.so.{}", library, files.version));
}

CdiNode node_of(const std::string& path, const DriverRoots& roots) { return {path, real(roots, path), "rw"}; }

CdiEdits nvidia_edits(const DriverFiles& files, const DriverRoots& roots) {
    CdiEdits edits;
    const auto mount = [&](const std::string& file, const std::string& at) {
        edits.mounts.push_back({real(roots, file), at, {"ro", "nosuid", "nodev"}});
    };
    // What NVIDIA's own runtime would add beside it, where it is the engine's.
    edits.environment.emplace_back("NVIDIA_VISIBLE_DEVICES", "void");
    for (const char* path : shared_nodes)
        if (files.nodes.contains(path)) edits.nodes.push_back(node_of(path, roots));
    for (const auto& [name, links] : files.libraries) {
        const auto file = files.library_folder + "/" + name;
        mount(file, file);
        for (const auto& link : links) mount(file, files.library_folder + "/" + link);
    }
    for (const auto& program : files.programs) mount(program, program);
    edits.library_folders = {files.library_folder};
    return edits;
}

bool is_nvidia(const GpuFacts& gpu) { return gpu.cdi_name.starts_with("nvidia.com/"); }
bool is_amd(const GpuFacts& gpu) { return gpu.cdi_name.starts_with("amd.com/"); }

}  // namespace

DriverFiles look_for_driver(const DriverRoots& roots) {
    DriverFiles found{.version = driver_version(roots.kernel)};
    for (const char* path : {shared_nodes[0], shared_nodes[1], shared_nodes[2], amd_node})
        if (::access(real(roots, path).c_str(), F_OK) == 0) found.nodes.insert(path);
    if (found.version.empty()) return found;
    for (const auto& folder : library_folders(roots))
        if (::access(fmt::format("{}{}/libcuda.so.{}", roots.files, folder, found.version).c_str(), R_OK) ==
            0) {
            found.library_folder = folder;
            list_libraries(found, roots);
            break;
        }
    for (const char* path : program_names)
        if (::access(real(roots, path).c_str(), X_OK) == 0) found.programs.insert(path);
    return found;
}

std::vector<std::string> missing(const GpuFacts& gpu, const DriverFiles& files, const DriverRoots& roots) {
    std::vector<std::string> all;
    if (gpu.cdi_name.empty()) {
        all.emplace_back(gpu.mig == MigMode::enabled ? "it is cut into slices (MIG)"
                                                     : "its driver does not tell what it is");
        return all;
    }
    if (gpu.device_nodes.empty()) all.emplace_back("its driver names no device node");
    for (const auto& path : gpu.device_nodes)
        if (::access(real(roots, path).c_str(), F_OK) != 0) all.push_back(fmt::format("{} is missing", path));
    if (is_amd(gpu) && !files.nodes.contains(amd_node))
        all.push_back(fmt::format("{} is missing: load the module amdgpu", amd_node));
    if (!is_nvidia(gpu)) return all;
    for (const char* path : needed_nodes)
        if (!files.nodes.contains(path))
            all.push_back(fmt::format("{} is missing: run nvidia-modprobe -c 0 -u", path));
    if (files.version.empty()) all.emplace_back("the module nvidia is not loaded");
    if (files.version.empty()) return all;
    if (files.library_folder.empty())
        all.push_back(fmt::format("libcuda.so.{} is in no folder of libraries", files.version));
    else
        for (const auto library : needed_libraries)
            if (!has(files, library))
                all.push_back(
                    fmt::format("{}.so.{} is not in {}", library, files.version, files.library_folder));
    return all;
}

std::vector<CdiFile> describe(std::span<const GpuFacts> gpus, const DriverFiles& files,
                              const DriverRoots& roots) {
    std::map<std::string, CdiFile> kinds;
    for (const auto& gpu : gpus) {
        const auto equals = gpu.cdi_name.find('=');
        if (equals == std::string::npos || !missing(gpu, files, roots).empty()) continue;
        auto& file = kinds[gpu.cdi_name.substr(0, equals)];
        auto& edits = file.devices[gpu.cdi_name.substr(equals + 1)];
        for (const auto& path : gpu.device_nodes) edits.nodes.push_back(node_of(path, roots));
        if (!file.kind.empty()) continue;
        file.kind = gpu.cdi_name.substr(0, equals);
        file.path = "the devices of this host";
        if (is_nvidia(gpu)) file.common = nvidia_edits(files, roots);
        if (is_amd(gpu)) file.common.nodes = {node_of(amd_node, roots)};
    }
    std::vector<CdiFile> all;
    for (auto& [kind, file] : kinds) all.push_back(std::move(file));
    return all;
}

std::vector<std::string> unusable(const GpuFacts& gpu, std::span<const std::string> folders,
                                  const DriverRoots& roots) {
    if (gpu.cdi_name.empty()) return missing(gpu, {}, roots);
    const auto cdi = Cdi::load(folders);
    const auto names = cdi.names();
    if (std::ranges::find(names, gpu.cdi_name) == names.end())
        return missing(gpu, look_for_driver(roots), roots);
    const std::string name[] = {gpu.cdi_name};
    const auto edits = cdi.resolve(name);
    if (!edits) return {edits.error().message};
    std::vector<std::string> all;
    const auto look = [&](const std::string& path) {
        if (::access(path.c_str(), F_OK) != 0)
            all.push_back(fmt::format("CDI asks for {}, which is not on this host", path));
    };
    for (const auto& node : edits->nodes) look(node.host_path);
    for (const auto& mount : edits->mounts) look(mount.host_path);
    return all;
}

}  // namespace hostler::docker
