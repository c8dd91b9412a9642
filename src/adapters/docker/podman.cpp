#include "adapters/docker/podman.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "adapters/docker/own_streams.h"

namespace hostler::docker {

namespace {

namespace fs = std::filesystem;

std::string_view search_path() { return std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin:/bin"; }

bool installed(std::string_view program) {
    std::string_view path = search_path();
    while (!path.empty()) {
        const auto end = std::min(path.find(':'), path.size());
        if (::access(fmt::format("{}/{}", path.substr(0, end), program).c_str(), X_OK) == 0) return true;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return ::access(fmt::format("/usr/sbin/{}", program).c_str(), X_OK) == 0;
}

std::int64_t hard_limit(__rlimit_resource what) {
    rlimit limit{};
    ::getrlimit(what, &limit);
    return limit.rlim_max == RLIM_INFINITY
               ? std::int64_t{1} << 20
               : std::min<std::int64_t>(static_cast<std::int64_t>(limit.rlim_max), 1 << 20);
}

Result<> write_file(const fs::path& path, std::string_view text) {
    std::ofstream file{path, std::ios::trunc};
    file << text;
    file.close();
    if (!file) return fail(Code::unavailable, fmt::format("cannot write {}", path.string()));
    return {};
}

// Ulimits are said because podman's own defaults are more than a process without CAP_SYS_RESOURCE may have.
// Locks are files, since the shared memory of the default belongs to every podman of the machine. Without
// systemd there is nobody to ask for a cgroup. Two processes stay with each command that has ended until it
// is forgotten, which is after five minutes by default; how it ended is asked at once.
std::string containers_conf(const fs::path& folder) {
    std::int64_t pids = 32768;
    std::ifstream{"/proc/sys/kernel/pid_max"} >> pids;
    const auto files = hard_limit(RLIMIT_NOFILE);
    const auto processes = std::min(hard_limit(RLIMIT_NPROC), pids);
    const bool systemd = fs::exists("/run/systemd/system");
    return fmt::format(R"([containers]
default_ulimits = ["nofile={0}:{0}", "nproc={1}:{1}"]
log_driver = "k8s-file"
log_size_max = 10485760

[engine]
{2}{3}events_logger = "file"
exit_command_delay = 20
hooks_dir = ["{4}/hooks"]
lock_type = "file"
tmp_dir = "{4}/run/libpod"

[network]
network_backend = "netavark"
network_config_dir = "{4}/networks"
)",
                       files, processes, systemd ? "" : "cgroup_manager = \"cgroupfs\"\n",
                       installed("runc") ? "runtime = \"runc\"\n" : "", folder.string());
}

std::string storage_conf(const fs::path& folder) {
    return fmt::format(
        "[storage]\ndriver = \"overlay\"\ngraphroot = \"{0}/root\"\nrunroot = \"{0}/run/storage\"\n",
        folder.string());
}

Result<> link_to(const fs::path& program, const fs::path& link) {
    std::error_code error;
    fs::remove(link, error);
    fs::create_symlink(program, link, error);
    if (error)
        return fail(Code::unavailable, fmt::format("cannot make {}: {}", link.string(), error.message()));
    return {};
}

}  // namespace

Result<PodmanService> prepare_podman(fs::path folder, const PodmanHelpers& helpers) {
    if (!installed("podman"))
        return fail(Code::not_found,
                    "podman is not installed; install it, or name a running engine's socket");
    std::error_code error;
    folder = fs::absolute(folder, error);
    if (folder.string().find_first_of("\"\\\n") != std::string::npos)
        return fail(Code::invalid,
                    fmt::format("the folder {} has a quote or backslash in its name", folder.string()));
    const auto socket = (folder / "podman.sock").string();
    if (socket.size() >= sizeof(sockaddr_un::sun_path))
        return fail(Code::invalid,
                    fmt::format("the path {} is too long for a socket; use a shorter folder", socket));
    for (const char* part : {"", "root", "run", "networks", "hooks", "firewall", "tmp"})
        fs::create_directories(folder / part, error);
    if (error)
        return fail(Code::unavailable, fmt::format("cannot make {}: {}", folder.string(), error.message()));
    fs::permissions(folder, fs::perms::owner_all, error);
    if (auto written = write_file(folder / "containers.conf", containers_conf(folder)); !written)
        return std::unexpected(written.error());
    if (auto written = write_file(folder / "storage.conf", storage_conf(folder)); !written)
        return std::unexpected(written.error());
    if (auto written = write_file(folder / "hooks/devices.json", hook_file(helpers.hook)); !written)
        return std::unexpected(written.error());
    if (auto written = write_file(folder / "hooks/streams.json", streams_hook_file(helpers.hook.agent));
        !written)
        return std::unexpected(written.error());
    for (const char* name : {"iptables", "ip6tables"})
        if (auto linked = link_to(helpers.iptables, folder / "firewall" / name); !linked)
            return std::unexpected(linked.error());
    return PodmanService{
        .socket = socket,
        .command = {"podman", "system", "service", "--time=0", "unix://" + socket},
        .environment = {{"CONTAINERS_CONF", (folder / "containers.conf").string()},
                        {"CONTAINERS_STORAGE_CONF", (folder / "storage.conf").string()},
                        {"HOSTLER_FIREWALL_ANSWERS", (folder / "tmp/firewall").string()},
                        {"PATH", fmt::format("{}:{}", (folder / "firewall").string(), search_path())},
                        {"TMPDIR", (folder / "tmp").string()}},
        .scratch = folder / "tmp"};
}

void clear_scratch(const fs::path& scratch) {
    std::error_code error;
    for (const auto& left : fs::directory_iterator{scratch, error}) {
        std::error_code ignored;
        fs::remove_all(left.path(), ignored);
    }
}

void release_podman(const fs::path& folder) {
    std::error_code error;
    clear_scratch(folder / "tmp");
    const std::string below = fs::absolute(folder, error).string() + "/";
    std::vector<std::string> mounts;
    std::ifstream table{"/proc/self/mounts"};
    for (std::string source, target, rest; table >> source >> target && std::getline(table, rest);)
        if (target.starts_with(below)) mounts.push_back(target);
    // The inner ones first. Busy while a container runs, and then it stays.
    std::ranges::reverse(mounts);
    for (const auto& mount : mounts) ::umount2(mount.c_str(), UMOUNT_NOFOLLOW);
}

}  // namespace hostler::docker
