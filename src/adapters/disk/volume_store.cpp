// What is done to the disk, step by step, each durable before what counts on it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "adapters/disk/file.h"
#include "adapters/disk/use.h"
#include "adapters/disk/volumes.h"
#include "core/names.h"

namespace hostler::disk {

namespace {

constexpr std::string_view new_prefix = ".new-", gone_prefix = ".gone-";
constexpr const char *image_name = "image", *mount_name = "fs", *data_name = "data",
                     *fresh_data_name = "data.new";
constexpr std::uint64_t mebibyte = 1 << 20, block_unit = 512;  // Of st_blocks.

Descriptor folder_in(int at, const std::string& name) {
    return Descriptor{::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

Result<struct stat> look_at(int fd, std::string_view which) {
    struct stat status{};
    if (::fstat(fd, &status) != 0) return disk_error("look at", which);
    return status;
}

std::uint64_t rounded(std::uint64_t size) {
    return (std::max(size, HostVolumes::size_min) + mebibyte - 1) / mebibyte * mebibyte;
}

std::string gibibytes(std::uint64_t bytes) {
    return fmt::format("{:.4g} GiB", static_cast<double>(bytes) / (std::uint64_t{1} << 30));
}

}  // namespace

struct VolumeStore::Root {
    VolumeSettings settings;
    std::unique_ptr<Images> images;
    std::string path;
    Descriptor folder;
    bool sets_aside = true;

    std::string at(std::string_view volume) const { return fmt::format("{}/{}", path, volume); }
    std::string image_of(std::string_view volume) const {
        return fmt::format("{}/{}/{}", path, volume, image_name);
    }
    std::string mount_of(std::string_view volume) const {
        return fmt::format("{}/{}/{}", path, volume, mount_name);
    }
    void step(std::string_view name) const {
        if (settings.before_step) settings.before_step(name);
    }
    Result<std::vector<std::string>> names() const {
        std::vector<std::string> found;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator{path, error})
            found.push_back(entry.path().filename());
        if (error) return fail(Code::unavailable, fmt::format("cannot read {}: {}", path, error.message()));
        std::ranges::sort(found);
        return found;
    }
    bool is_volume(const std::string& name) const {
        struct stat status{};
        return is_plain_name(name) &&
               ::fstatat(*folder, fmt::format("{}/{}", name, image_name).c_str(), &status,
                         AT_SYMLINK_NOFOLLOW) == 0 &&
               S_ISREG(status.st_mode);
    }
    Result<Descriptor> image(const std::string& volume) const {
        const Descriptor in = folder_in(*folder, volume);
        Descriptor file{in.open() ? ::openat(*in, image_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1};
        if (!file.open()) return disk_error("open", image_of(volume));
        return file;
    }
    // Why this host keeps none; empty: it does.
    std::string refused() const {
        return sets_aside ? images->refused() : "its disk's file system sets no room aside (ext4 and XFS do)";
    }
    std::uint64_t kept_free(const struct statvfs& space) const {
        return std::min(settings.keep_free_max,
                        static_cast<std::uint64_t>(space.f_blocks) * space.f_frsize / volume_kept_free_part);
    }

    Result<> check_room(const std::string& id, std::uint64_t more) const;
    Result<> make(const std::string& id, std::uint64_t size);
    Result<> grow(const std::string& id, int image, std::uint64_t from, std::uint64_t to);
    Result<> make_data_folder(const std::string& id, IdRange ids) const;
    Result<> discard(const std::string& name) const;
};

Result<> VolumeStore::Root::check_room(const std::string& id, std::uint64_t more) const {
    struct statvfs space{};
    if (::fstatvfs(*folder, &space) != 0) return disk_error("measure", path);
    const auto free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
    const auto kept = kept_free(space);
    if (free >= kept && more <= free - kept) return {};
    return fail(
        Code::exhausted,
        fmt::format(
            "volume {} does not fit: it needs {} more, and {} are free on the host's disk for volumes", id,
            gibibytes(more), gibibytes(free > kept ? free - kept : 0)),
        "disk_full");
}

// Under a name that is no volume until it is whole.
Result<> VolumeStore::Root::make(const std::string& id, std::uint64_t size) {
    if (const std::string why = refused(); !why.empty())
        return fail(Code::invalid, fmt::format("this host keeps no volumes: {}", why), "volumes_refused");
    const auto fresh = fmt::format("{}{}", new_prefix, id);
    TRY(discard(fresh));
    TRY(check_room(id, size));
    step("make the folder");
    if (::mkdirat(*folder, fresh.c_str(), 0700) != 0) return disk_error("make", at(fresh));
    const Descriptor in = folder_in(*folder, fresh);
    if (!in.open()) return disk_error("open", at(fresh));
    step("make the image");
    const Descriptor image{
        ::openat(*in, image_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!image.open()) return disk_error("make", image_of(fresh));
    const auto given_up = [&](std::unexpected<Error> why) -> Result<> {
        (void)discard(fresh);
        return why;
    };
    step("set its room aside");
    if (auto kept = images->set_aside(*image, size); !kept) return given_up(std::unexpected(kept.error()));
    if (::ftruncate(*image, static_cast<off_t>(size)) != 0)
        return given_up(disk_error("size", image_of(fresh)));
    step("make the file system");
    if (auto made = images->format(image_of(fresh)); !made) return given_up(std::unexpected(made.error()));
    step("sync the image");
    if (::fsync(*image) != 0) return disk_error("sync", image_of(fresh));
    step("make the mount point");
    if (::mkdirat(*in, mount_name, 0700) != 0) return disk_error("make", mount_of(fresh));
    step("sync the folder");
    if (::fsync(*in) != 0) return disk_error("sync", at(fresh));
    step("give it its name");
    if (::renameat(*folder, fresh.c_str(), *folder, id.c_str()) != 0) return disk_error("name", at(id));
    step("sync the name");
    if (::fsync(*folder) != 0) return disk_error("sync", path);
    return {};
}

// The room first and beyond the image's end, where nothing sees it; then its end; then the file system, which
// attach() makes as large as its image is.
Result<> VolumeStore::Root::grow(const std::string& id, int image, std::uint64_t from, std::uint64_t to) {
    TRY(check_room(id, to - from));
    step("set more room aside");
    if (auto kept = images->set_aside(image, to); !kept) {
        (void)::ftruncate(image, static_cast<off_t>(from));  // What was set aside is given back.
        return kept;
    }
    step("move the image's end");
    if (::ftruncate(image, static_cast<off_t>(to)) != 0) return disk_error("grow", image_of(id));
    step("sync the image's end");
    if (::fsync(image) != 0) return disk_error("sync", image_of(id));
    step("grow the file system");
    return {};
}

// Below the file system's top, so that what a repair puts there is not the tenant's to find.
Result<> VolumeStore::Root::make_data_folder(const std::string& id, IdRange ids) const {
    const Descriptor top = folder_in(*folder, fmt::format("{}/{}", id, mount_name));
    if (!top.open()) return disk_error("open", mount_of(id));
    Descriptor data = folder_in(*top, data_name);
    if (!data.open()) {
        if (::mkdirat(*top, fresh_data_name, 0700) != 0 && errno != EEXIST)
            return disk_error("make", mount_of(id));
        data = folder_in(*top, fresh_data_name);
        // Nobody has given it a mode: that is how an engine knows a new one.
        if (!data.open() || ::fchmod(*data, 0) != 0 || ::fsync(*data) != 0 ||
            ::renameat(*top, fresh_data_name, *top, data_name) != 0 || ::fsync(*top) != 0)
            return disk_error("make the folder of", "volume " + id);
    }
    const auto status = TRY(look_at(*data, id));
    const bool theirs = status.st_uid >= ids.first_user && status.st_uid - ids.first_user < IdRange::size;
    if (ids.mapped() && !theirs && ::fchown(*data, ids.first_user, ids.first_group) != 0)
        return disk_error("hand over the folder of", "volume " + id);
    return {};
}

// What is left of a volume, under a name that is none.
Result<> VolumeStore::Root::discard(const std::string& name) const {
    const Descriptor in = folder_in(*folder, name);
    if (!in.open()) return errno == ENOENT ? Result<>{} : Result<>{disk_error("open", at(name))};
    struct stat status{};
    if (::fstatat(*in, mount_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        TRY(images->unmount(image_of(name), mount_of(name)));
    TRY(empty_folder(*in, at(name)));
    step("remove the folder");
    if (::unlinkat(*folder, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
        return disk_error("remove", at(name));
    return {};
}

Result<VolumeStore> VolumeStore::open(VolumeSettings settings, std::unique_ptr<Images> images) {
    auto folder = TRY(make_folder(settings.folder));
    if (::fchmod(*folder, 0700) != 0) return disk_error("protect", settings.folder);
    auto path = std::filesystem::absolute(settings.folder).lexically_normal().string();
    auto root =
        std::make_unique<Root>(std::move(settings), std::move(images), std::move(path), std::move(folder));
    constexpr std::uint64_t little = 4096;
    const Descriptor nameless{::openat(*root->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
    if (nameless.open())
        if (const auto kept = root->images->set_aside(*nameless, little); !kept)
            root->sets_aside = kept.error().code == Code::exhausted;
    return VolumeStore{std::move(root)};
}

VolumeStore::VolumeStore(std::unique_ptr<Root> root) : root_(std::move(root)) {}
VolumeStore::VolumeStore(VolumeStore&&) noexcept = default;
VolumeStore::~VolumeStore() = default;

void VolumeStore::sweep() {
    const auto found = root_->names();
    if (!found) return;
    for (const auto& name : *found) {
        if (name.starts_with(new_prefix) || name.starts_with(gone_prefix)) (void)root_->discard(name);
        if (!root_->is_volume(name)) continue;
        // Room that was set aside to grow, and then was not.
        const auto image = root_->image(name);
        if (!image) continue;
        if (const auto status = look_at(**image, name);
            status && static_cast<std::uint64_t>(status->st_blocks) * block_unit >
                          static_cast<std::uint64_t>(status->st_size) + mebibyte)
            (void)::ftruncate(**image, status->st_size);
    }
}

Result<> VolumeStore::create(const std::string& id, std::uint64_t size_bytes) {
    if (!is_plain_name(id)) return fail(Code::invalid, fmt::format("'{}' is no name for a volume", id));
    const auto size = rounded(size_bytes);
    if (!root_->is_volume(id)) return root_->make(id, size);
    const auto image = TRY(root_->image(id));
    const auto now = static_cast<std::uint64_t>(TRY(look_at(*image, id)).st_size);
    if (now < size) TRY(root_->grow(id, *image, now, size));
    TRY(attach(id, {}));  // Which ends what an earlier growth began.
    return {};
}

Result<HostVolumes::Attached> VolumeStore::attach(const std::string& id, IdRange ids) {
    if (!root_->is_volume(id)) return fail(Code::not_found, fmt::format("volume {} is not on this host", id));
    HostVolumes::Attached attached{.folder = fmt::format("{}/{}", root_->mount_of(id), data_name),
                                   .note = {}};
    attached.note = TRY(root_->images->mount(root_->image_of(id), root_->mount_of(id)));
    TRY(root_->make_data_folder(id, ids));
    return attached;
}

Result<> VolumeStore::remove(const std::string& id) {
    if (!is_plain_name(id)) return fail(Code::invalid, fmt::format("'{}' is no name for a volume", id));
    const auto gone = fmt::format("{}{}", gone_prefix, id);
    TRY(root_->discard(gone));  // Of an earlier removal that did not end.
    if (root_->is_volume(id)) {
        root_->step("unmount");
        TRY(root_->images->unmount(root_->image_of(id), root_->mount_of(id)));
    }
    root_->step("take its name");
    if (::renameat(*root_->folder, id.c_str(), *root_->folder, gone.c_str()) != 0)
        return errno == ENOENT ? Result<>{} : Result<>{disk_error("remove", root_->at(id))};
    root_->step("sync that it has none");
    if (::fsync(*root_->folder) != 0) return disk_error("remove", root_->at(id));
    root_->step("empty the folder");
    return root_->discard(gone);
}

Result<std::vector<std::string>> VolumeStore::list() const {
    auto found = TRY(root_->names());
    std::erase_if(found, [&](const std::string& name) { return !root_->is_volume(name); });
    return found;
}

Result<HostVolumes::Room> VolumeStore::room() const {
    HostVolumes::Room room{.bytes = 0, .refused = root_->refused()};
    struct statvfs space{};
    if (::fstatvfs(*root_->folder, &space) != 0) return disk_error("measure", root_->path);
    std::uint64_t all = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
    for (const auto& id : TRY(list()))
        if (const auto image = root_->image(id))
            all += static_cast<std::uint64_t>(TRY(look_at(**image, id)).st_blocks) * block_unit;
    const auto kept = root_->kept_free(space);
    room.bytes = all > kept ? all - kept : 0;
    return room;
}

Result<std::map<std::string, DiskUse>> VolumeStore::uses() const {
    std::map<std::string, DiskUse> uses;
    for (const auto& id : TRY(list()))
        if (const auto use = use_at(root_->mount_of(id), root_->path)) uses[id] = *use;
    return uses;
}

Result<> VolumeStore::release() {
    Result<> ended{};
    for (const auto& id : TRY(list()))
        if (auto one = root_->images->unmount(root_->image_of(id), root_->mount_of(id)); !one && ended)
            ended = one;
    return ended;
}

}  // namespace hostler::disk
