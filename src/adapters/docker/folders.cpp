#include "adapters/docker/folders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <utility>

#include "adapters/docker/bodies.h"
#include "adapters/docker/process.h"
#include "core/log.h"

namespace hostler::docker {

namespace {

namespace fs = std::filesystem;

constexpr mode_t permissions = 07777, everybody = 0777, owner_alone = 0700;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

class Folder {
public:
    Folder(int at, const std::string& name) : fd_(::openat(at, name.c_str(), folder_flags)) {}
    ~Folder() {
        if (fd_ >= 0) ::close(fd_);
    }
    Folder(Folder&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Folder& operator=(Folder&&) = delete;
    int fd() const { return fd_; }
    bool open() const { return fd_ >= 0; }
    // Of what lower layers have here nothing is seen.
    bool opaque() const {
        char value = 0;
        return ::fgetxattr(fd_, "trusted.overlay.opaque", &value, 1) == 1 && value == 'y';
    }

private:
    int fd_;
};

// One folder as the layers have it, the topmost first.
using Merged = std::vector<Folder>;

std::deque<std::string> parts_of(const fs::path& path) {
    std::deque<std::string> parts;
    for (const auto& part : path.relative_path()) parts.push_back(part);
    return parts;
}

struct Step {
    Merged folder{};   // Empty: there is none, or
    std::string link;  // it is a link.
};

Step step_into(const Merged& from, const std::string& name) {
    Step step;
    for (const Folder& layer : from) {
        struct stat seen{};
        if (::fstatat(layer.fd(), name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISLNK(seen.st_mode) && step.folder.empty()) {
            char target[PATH_MAX];
            const auto size = ::readlinkat(layer.fd(), name.c_str(), target, sizeof target);
            if (size > 0) step.link.assign(target, static_cast<std::size_t>(size));
        }
        if (!S_ISDIR(seen.st_mode)) break;  // As a device 0:0, it says that lower ones are gone.
        Folder folder{layer.fd(), name};
        if (!folder.open()) break;
        step.folder.push_back(std::move(folder));
        if (step.folder.back().opaque()) break;
    }
    return step;
}

std::unexpected<Error> failed(std::string_view what, const std::string& path) {
    return fail(errno == ENOSPC || errno == EDQUOT ? Code::exhausted : Code::unavailable,
                fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)),
                errno == ENOSPC || errno == EDQUOT ? "disk_full" : "");
}

// An engine that copies an image's layers for a range of users has them on its disk as they are on the host.
std::uint32_t on_host(std::uint32_t id, std::uint32_t first) {
    const bool is_host = id >= first && id - first < IdRange::size;
    return first == 0 || is_host || id >= IdRange::size ? id : first + id;
}

// A name for it in one folder, however long it is.
std::string key_of(std::string_view target) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a.
    for (const char c : target) hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211ULL;
    return fmt::format("{:016x}", hash);
}

// Whole or not at all.
Result<> fill(const ImageVolume& volume, const std::string& place) {
    constexpr auto copy_max = std::chrono::minutes{2};
    const std::string fresh = place + ".new";
    std::error_code error;
    fs::remove_all(fresh, error);
    const auto copied = TRY(run_process({"cp", "-a", volume.source, fresh}, {}, copy_max));
    if (copied.exit_code != 0) {
        fs::remove_all(fresh, error);
        const bool full = says_disk_full(copied.output) || copied.output.contains("No space left");
        return fail(
            full ? Code::exhausted : Code::unavailable,
            fmt::format("the image's files at {}, a volume of it, {}: {}", volume.target,
                        full ? "is more than the disk of the container" : "cannot be copied", copied.output),
            full ? "disk_full" : "");
    }
    if (::rename(fresh.c_str(), place.c_str()) != 0) return failed("name", place);
    return {};
}

}  // namespace

std::optional<FolderFacts> folder_in_layers(std::span<const std::string> layers, std::string_view path) {
    constexpr int links_max = 40;
    std::vector<Merged> way(1);  // From the root.
    for (const auto& layer : layers)
        if (Folder folder{AT_FDCWD, layer}; folder.open()) way.front().push_back(std::move(folder));
    auto left = parts_of(path);
    for (int links = 0; !left.empty();) {
        const std::string name = left.front();
        left.pop_front();
        if (name.empty() || name == ".") continue;
        if (name == "..") {
            if (way.size() > 1) way.pop_back();
            continue;
        }
        Step step = step_into(way.back(), name);
        if (!step.link.empty()) {
            if (++links > links_max) return std::nullopt;
            if (step.link.starts_with('/')) way.erase(way.begin() + 1, way.end());
            const auto parts = parts_of(step.link);
            left.insert(left.begin(), parts.begin(), parts.end());
            continue;
        }
        if (step.folder.empty()) return std::nullopt;
        way.push_back(std::move(step.folder));
    }
    struct stat seen{};
    if (way.back().empty() || ::fstat(way.back().front().fd(), &seen) != 0) return std::nullopt;
    return FolderFacts{seen.st_uid, seen.st_gid, seen.st_mode & permissions};
}

std::vector<ArchiveFile> missing_folders(std::span<const std::string> layers,
                                         std::span<const std::string> paths) {
    std::vector<ArchiveFile> missing;
    for (const auto& path : paths) {
        std::string name = fs::path{path}.lexically_normal().relative_path();
        if (!name.ends_with('/')) name += '/';
        if (folder_in_layers(layers, path)) continue;
        if (name.size() > archive_name_max)
            log_warn("an image declares a volume at {}, which is too long a path to be made", path);
        else
            missing.push_back({.name = name, .content = {}, .mode = 0755});
    }
    return missing;
}

Result<> give_tops(std::span<const MountSpec> mounts, std::span<const std::string> layers, IdRange ids) {
    for (const auto& mount : mounts) {
        const Folder top{AT_FDCWD, mount.source};
        struct stat now{};
        if (!top.open() || ::fstat(top.fd(), &now) != 0 || (now.st_mode & permissions) != 0) continue;
        mode_t mode = everybody;  // Whoever the image's user is.
        if (const auto covered = folder_in_layers(layers, mount.target)) {
            mode = covered->mode == 0 ? owner_alone : covered->mode;
            if (::fchown(top.fd(), on_host(covered->user, ids.first_user),
                         on_host(covered->group, ids.first_group)) != 0)
                return failed("give its owner to", mount.source);
        }
        if (::fchmod(top.fd(), mode) != 0) return failed("give its mode to", mount.source);
    }
    return {};
}

Result<> lay_volumes(const std::string& layer, std::span<const ImageVolume> volumes) {
    if (volumes.empty()) return {};
    const std::string in = fmt::format("{}/{}", layer, Layers::volumes_folder);
    constexpr mode_t to_pass = 0711;  // The engine's runtime enters as the container's root.
    if (::mkdir(in.c_str(), to_pass) != 0 && errno != EEXIST) return failed("make", in);
    if (::chmod(in.c_str(), to_pass) != 0) return failed("open", in);
    for (const auto& volume : volumes) {
        const std::string place = fmt::format("{}/{}", in, key_of(volume.target));
        std::error_code error;
        if (!fs::exists(place, error)) TRY(fill(volume, place));
        fs::remove_all(volume.source, error);
        if (::symlink(place.c_str(), volume.source.c_str()) != 0) return failed("link", volume.source);
    }
    return {};
}

void unlay_volumes(std::span<const ImageVolume> volumes) {
    for (const auto& volume : volumes) {
        std::error_code error;
        if (fs::is_symlink(fs::symlink_status(volume.source, error)) && fs::remove(volume.source, error))
            fs::create_directory(volume.source, error);
    }
}

}  // namespace hostler::docker
