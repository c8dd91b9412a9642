#include "adapters/docker/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "adapters/docker/process.h"

namespace hostler::docker {

namespace {

namespace fs = std::filesystem;

// As the kernel writes it: ' ' is "\040".
std::string unescaped(std::string_view text) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at)
        if (text[at] == '\\' && at + 3 < text.size()) {
            made += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 +
                                      (text[at + 3] - '0'));
            at += 3;
        } else {
            made += text[at];
        }
    return made;
}

bool lies_in(std::string_view path, std::string_view mount) {
    return mount == "/" || path == mount || (path.starts_with(mount) && path[mount.size()] == '/');
}

struct Mount {
    std::string place;
    bool shared = false;
};

std::vector<Mount> mounts_of(std::string_view mountinfo) {
    std::vector<Mount> all;
    std::istringstream lines{std::string{mountinfo}};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream text{line};
        const std::vector<std::string> words{std::istream_iterator<std::string>{text}, {}};
        constexpr std::ptrdiff_t place = 4, options = 6;
        if (std::ssize(words) <= options) continue;
        const auto end = std::find(words.begin() + options, words.end(), "-");
        const bool shared = std::any_of(words.begin() + options, end,
                                        [](const std::string& word) { return word.starts_with("shared:"); });
        all.push_back({unescaped(words[place]), shared});
    }
    return all;
}

std::unexpected<Error> not_shared(const std::string& folder) {
    return fail(Code::unavailable,
                fmt::format("cannot make {} a shared mount: {}; without it each container leaves its network "
                            "namespace and address behind. It takes root with CAP_SYS_ADMIN",
                            folder, std::strerror(errno)));
}

}  // namespace

Sharing sharing_of(std::string_view mountinfo, std::string_view folder) {
    // The last of those that are mounted at the nearest place.
    std::string nearest;
    bool shared = false;
    for (const auto& mount : mounts_of(mountinfo)) {
        if (!lies_in(folder, mount.place) || mount.place.size() < nearest.size()) continue;
        nearest = mount.place;
        shared = mount.shared;
    }
    if (shared) return Sharing::shared;
    return nearest == folder ? Sharing::mounted : Sharing::plain;
}

Result<> share_mounts(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    const auto path = fs::canonical(folder, error).string();
    if (error) return fail(Code::unavailable, fmt::format("cannot make {}: {}", folder, error.message()));
    std::ifstream file{"/proc/self/mountinfo"};
    const std::string mountinfo{std::istreambuf_iterator<char>{file}, {}};
    const auto now = sharing_of(mountinfo, path);
    if (now == Sharing::shared) return {};
    if (now == Sharing::plain) {
        // What is mounted there already comes along. The mount that it has now is out of sight then, and
        // would keep its file from being removed.
        std::vector<int> before;
        for (const auto& mount : mounts_of(mountinfo))
            if (lies_in(mount.place, path)) before.push_back(::open(mount.place.c_str(), O_PATH | O_CLOEXEC));
        const bool bound = ::mount(path.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
        const int why = errno;
        for (const int one : before) {
            if (bound) ::umount2(fmt::format("/proc/self/fd/{}", one).c_str(), MNT_DETACH);
            ::close(one);
        }
        errno = why;
        if (!bound) return not_shared(folder);
    }
    if (::mount(nullptr, path.c_str(), nullptr, MS_SHARED | MS_REC, nullptr) != 0) return not_shared(folder);
    return {};
}

Result<bool> remove_namespace(const std::string& path) {
    const fs::path whole{path};
    const std::string name = whole.filename();
    const bool podmans = (whole.parent_path() == namespaces_folder ||
                          whole.parent_path() == fmt::format("/var{}", namespaces_folder)) &&
                         name.starts_with("netns-") && !name.contains("..");
    struct stat there{};
    if (!podmans || ::lstat(path.c_str(), &there) != 0) return false;
    // Whoever else holds the namespace would keep the address with it.
    constexpr auto patience = std::chrono::seconds{5};
    (void)run_process({"ip", "-n", name, "link", "delete", "dev", "eth0"}, {}, patience);
    while (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
    }
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return fail(Code::unavailable, fmt::format("cannot remove {}: {}", path, std::strerror(errno)));
    return true;
}

}  // namespace hostler::docker
