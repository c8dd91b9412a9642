#include "adapters/disk/volumes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "adapters/disk/file.h"
#include "core/names.h"

namespace hostler::disk {

namespace {

constexpr std::string_view gone_prefix = ".gone-";  // On its way out: no longer a volume, not yet empty.

// What the jobs share; they run one at a time.
struct Root {
    std::string path;
    Descriptor folder;
};

Result<std::vector<std::string>> names(const Root& root) {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{root.path, error})
        found.push_back(entry.path().filename());
    if (error) return fail(Code::unavailable, fmt::format("cannot read {}: {}", root.path, error.message()));
    std::ranges::sort(found);
    return found;
}

Result<> sweep(const Root& root, const std::string& name) {
    const Descriptor folder{
        ::openat(*root.folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (folder.open()) {
        TRY(empty_folder(*folder, root.path + "/" + name));
        if (::unlinkat(*root.folder, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
            return disk_error("remove", root.path + "/" + name);
    } else if (::unlinkat(*root.folder, name.c_str(), 0) != 0 && errno != ENOENT) {
        return disk_error("remove", root.path + "/" + name);
    }
    return {};
}

Result<std::string> create(const Root& root, const std::string& id, std::uint64_t size_bytes) {
    auto path = root.path + "/" + id;
    struct stat status{};
    if (::fstatat(*root.folder, id.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        if (!S_ISDIR(status.st_mode)) return fail(Code::unavailable, fmt::format("{} is no folder", path));
        return path;
    }
    struct statvfs space{};
    if (::fstatvfs(*root.folder, &space) != 0) return disk_error("measure", root.path);
    const auto free_bytes = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
    if (size_bytes > free_bytes)
        return fail(Code::exhausted,
                    fmt::format("volume {} of {} bytes does not fit: {} are free on the host's disk", id,
                                size_bytes, free_bytes),
                    "disk_full");
    // Under a name that is no volume until it is whole.
    const auto fresh = fmt::format("{}{}-new", gone_prefix, id);
    TRY(sweep(root, fresh));
    if (::mkdirat(*root.folder, fresh.c_str(), 0700) != 0) return disk_error("make", path);
    const Descriptor folder{
        ::openat(*root.folder, fresh.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!folder.open() || ::fchmod(*folder, 0777) != 0 || ::fsync(*folder) != 0 ||
        ::renameat(*root.folder, fresh.c_str(), *root.folder, id.c_str()) != 0 || ::fsync(*root.folder) != 0)
        return disk_error("make", path);
    return path;
}

Result<> remove(const Root& root, const std::string& id) {
    const auto gone = fmt::format("{}{}", gone_prefix, id);
    TRY(sweep(root, gone));  // Of an earlier removal that did not end.
    if (::renameat(*root.folder, id.c_str(), *root.folder, gone.c_str()) != 0)
        return errno == ENOENT ? Result<>{} : Result<>{disk_error("remove", root.path + "/" + id)};
    if (::fsync(*root.folder) != 0) return disk_error("remove", root.path + "/" + id);
    return sweep(root, gone);
}

class Volumes final : public HostVolumes {
public:
    Volumes(Worker& worker, std::shared_ptr<Root> root) : worker_(worker), root_(std::move(root)) {
        worker_.post(
            [root = root_] {
                const auto found = names(*root);
                if (!found) return;
                for (const auto& name : *found)
                    if (name.starts_with(gone_prefix))
                        (void)sweep(*root, name);  // If it fails: at the next start.
            },
            [] {});
    }

    Task<std::string> create(std::string id, std::uint64_t size_bytes) override {
        if (!is_plain_name(id))
            co_return fail(Code::invalid, fmt::format("'{}' is no name for a volume", id));
        co_return co_await run_on<std::string>(
            worker_, [root = root_, id, size_bytes] { return disk::create(*root, id, size_bytes); });
    }

    Task<> remove(std::string id) override {
        if (!is_plain_name(id))
            co_return fail(Code::invalid, fmt::format("'{}' is no name for a volume", id));
        co_return co_await run_on<void>(worker_, [root = root_, id] { return disk::remove(*root, id); });
    }

    Task<std::vector<std::string>> list() override {
        co_return co_await run_on<std::vector<std::string>>(
            worker_, [root = root_]() -> Result<std::vector<std::string>> {
                auto found = TRY(names(*root));
                std::erase_if(found, [](const std::string& name) { return !is_plain_name(name); });
                return found;
            });
    }

    Task<std::string> path(std::string id) override {
        co_return co_await run_on<std::string>(worker_, [root = root_, id]() -> Result<std::string> {
            struct stat status{};
            if (!is_plain_name(id) ||
                ::fstatat(*root->folder, id.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
                !S_ISDIR(status.st_mode))
                return fail(Code::not_found, fmt::format("volume {} is not on this host", id));
            return root->path + "/" + id;
        });
    }

private:
    Worker& worker_;
    std::shared_ptr<Root> root_;
};

}  // namespace

Result<std::unique_ptr<HostVolumes>> open_volumes(Worker& worker, std::string root) {
    auto folder = TRY(make_folder(root));
    if (::fchmod(*folder, 0700) != 0) return disk_error("protect", root);
    auto path = std::filesystem::absolute(root).lexically_normal().string();
    return std::make_unique<Volumes>(worker, std::make_shared<Root>(std::move(path), std::move(folder)));
}

}  // namespace hostler::disk
