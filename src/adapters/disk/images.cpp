#include "adapters/disk/images.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>

#include "adapters/disk/file.h"
#include "adapters/disk/tool.h"

namespace hostler::disk {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// ── XFS's own calls (fs/xfs/libxfs/xfs_fs.h of the kernel; its headers come with a package that few have)

struct XfsGeometry {
    std::uint32_t block_bytes, rt_extent_blocks, group_blocks, groups, log_blocks, sector_bytes, inode_bytes,
        inode_percent_max;
    std::uint64_t data_blocks, rt_blocks, rt_extents, log_start;
    std::uint8_t uuid[16];
    std::uint32_t stripe_unit, stripe_width;
    std::int32_t version;
    std::uint32_t flags, log_sector_bytes, rt_sector_bytes, folder_block_bytes;
};
struct XfsGrow {
    std::uint64_t data_blocks;
    std::uint32_t inode_percent_max;
};
constexpr unsigned long xfs_geometry = _IOR('X', 100, XfsGeometry);
constexpr unsigned long xfs_grow = _IOW('X', 110, XfsGrow);

Result<> fill_image(const std::string& at) {
    const Descriptor mounted{::open(at.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    XfsGeometry now{};
    if (!mounted.open() || ::ioctl(*mounted, xfs_geometry, &now) != 0) return disk_error("measure", at);
    struct stat status{};
    if (::fstat(*mounted, &status) != 0) return disk_error("measure", at);
    std::ifstream size{fmt::format("/sys/dev/block/{}:{}/size", major(status.st_dev), minor(status.st_dev))};
    std::uint64_t sectors = 0;
    constexpr std::uint64_t sector = 512;
    size >> sectors;
    const std::uint64_t blocks = sectors * sector / now.block_bytes;
    // The kernel rounds a last group that would be tiny away.
    constexpr std::uint64_t group_blocks_min = 64;
    if (blocks <= now.data_blocks || (now.data_blocks + group_blocks_min > blocks)) return {};
    XfsGrow wanted{blocks, now.inode_percent_max};
    if (::ioctl(*mounted, xfs_grow, &wanted) != 0) return disk_error("grow the file system at", at);
    return {};
}

// ── Loop devices

struct Loop {
    int number;
    Descriptor device;
};

std::string device_path(int number) { return fmt::format("/dev/loop{}", number); }

Result<Descriptor> open_image(const std::string& image) {
    Descriptor file{::open(image.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC)};
    if (!file.open()) return disk_error("open", image);
    return file;
}

// The device that has the image already. A second one on the same image would destroy it.
Result<std::optional<Loop>> loop_of(int image, const std::string& which) {
    struct stat wanted{};
    if (::fstat(image, &wanted) != 0) return disk_error("look at", which);
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator{"/sys/block", gone}) {
        const std::string name = entry.path().filename();
        constexpr std::string_view prefix = "loop";
        int number = 0;
        if (!name.starts_with(prefix) ||
            std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number).ec !=
                std::errc{} ||
            ::access((entry.path() / "loop/backing_file").c_str(), F_OK) != 0)
            continue;
        Descriptor device{::open(device_path(number).c_str(), O_RDWR | O_CLOEXEC)};
        loop_info64 info{};
        if (device.open() && ::ioctl(*device, LOOP_GET_STATUS64, &info) == 0 &&
            info.lo_inode == wanted.st_ino && info.lo_device == wanted.st_dev)
            return Loop{number, std::move(device)};
    }
    return std::nullopt;
}

// It goes by itself with the last who has it open or mounted.
Result<Loop> attach_loop(int image, const std::string& which) {
    const Descriptor control{::open("/dev/loop-control", O_RDWR | O_CLOEXEC)};
    if (!control.open()) return disk_error("open", "/dev/loop-control");
    constexpr int tries_max = 64;  // Others take devices, too.
    for (int tries = 0; tries < tries_max; ++tries) {
        const int number = ::ioctl(*control, LOOP_CTL_GET_FREE);
        if (number < 0) return disk_error("get a loop device for", which);
        Descriptor device{::open(device_path(number).c_str(), O_RDWR | O_CLOEXEC)};
        if (!device.open()) return disk_error("open", device_path(number));
        loop_config config{};
        config.fd = static_cast<std::uint32_t>(image);
        // Past the page cache where that can be: what a container writes is kept in memory once, and counted
        // as its.
        config.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
        if (::ioctl(*device, LOOP_CONFIGURE, &config) == 0) return Loop{number, std::move(device)};
        if (errno != EBUSY) return disk_error("attach", which);
    }
    return fail(Code::unavailable, fmt::format("no loop device stays free for {}", which));
}

// What is mounted on the folder; its own device if nothing is.
Result<dev_t> device_at(const std::string& at) {
    struct stat status{};
    if (::lstat(at.c_str(), &status) != 0) return disk_error("look at", at);
    return status.st_dev;
}
std::unexpected<Error> damaged(const std::string& image, std::string_view why) {
    return fail(Code::unavailable,
                fmt::format("the file system in {} is damaged: {}; look at it with xfs_repair on its host",
                            image, why),
                "volume_damaged");
}

std::string last_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    const auto at = text.rfind('\n');
    return at == std::string::npos ? text : text.substr(at + 1);
}

class LoopImages final : public Images {
public:
    std::string refused() const override {
        if (!known_good_ && why_refused().empty()) known_good_ = true;
        return known_good_ ? "" : why_refused();
    }

    Result<> set_aside(int file, std::uint64_t bytes) override {
        if (::fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) return {};
        return disk_error("set room aside for", "a volume");
    }

    Result<> format(const std::string& image) override {
        // Nothing is given back to the disk (-K): what is set aside stays so.
        constexpr auto format_max = seconds{300};
        const auto end = TRY(run_tool({"mkfs.xfs", "-q", "-K", "-f", "-L", "hostler", image}, format_max));
        if (end.exit_code != 0)
            return fail(Code::unavailable, fmt::format("mkfs.xfs cannot make a file system in {}: {}", image,
                                                       last_line(end.output)));
        return {};
    }

    Result<std::string> mount(const std::string& image, const std::string& at) override {
        const auto file = TRY(open_image(image));
        if (::mkdir(at.c_str(), 0700) != 0 && errno != EEXIST) return disk_error("make", at);
        std::string note;
        auto loop = TRY(loop_of(*file, image));
        if (TRY(is_mounted(at)) && (!loop || TRY(device_at(at)) != device_of(*loop)))
            if (::umount2(at.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0) return disk_error("unmount", at);
        if (!TRY(is_mounted(at))) {
            const bool ours = !loop;
            if (ours) {
                note = TRY(look_into(image));
                loop = TRY(attach_loop(*file, image));
            }
            auto mounted = mount_device(*loop, at);
            if (!mounted && mounted.error().reason == "volume_damaged" && ours) {
                loop.reset();
                note = TRY(repair(image));
                loop = TRY(attach_loop(*file, image));
                mounted = mount_device(*loop, at);
            }
            if (!mounted)
                return mounted.error().reason == "volume_damaged"
                           ? damaged(image, mounted.error().message)
                           : std::unexpected(std::move(mounted).error());
        }
        if (::ioctl(*loop->device, LOOP_SET_CAPACITY, 0) != 0) return disk_error("grow", image);
        TRY(fill_image(at));
        return note;
    }

    Result<> unmount(const std::string& image, const std::string& at) override {
        // A crash may have come between the removal of the folder and its making, below.
        if (::mkdir(at.c_str(), 0700) != 0 && errno != EEXIST) return disk_error("make", at);
        // Containers have mounts of their own; this one is in nobody's way.
        while (TRY(is_mounted(at)))
            if (::umount2(at.c_str(), UMOUNT_NOFOLLOW) != 0 &&
                (errno != EBUSY || ::umount2(at.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0))
                return disk_error("unmount", at);
        // The monitors of other containers have copies of all mounts that there were when they began. They
        // lose this one with the folder that it is on; a container that uses it has it elsewhere, too.
        if (::rmdir(at.c_str()) != 0 && errno != ENOENT) return disk_error("remove", at);
        if (::mkdir(at.c_str(), 0700) != 0) return disk_error("make", at);
        auto file = open_image(image);
        if (!file) return file.error().code == Code::not_found ? Result<>{} : std::unexpected(file.error());
        // The device goes a moment after the last mount, that of a container that has just ended among them.
        constexpr int looks_max = 100;
        constexpr auto between = milliseconds{20};
        for (int look = 0; look < looks_max; ++look) {
            if (!TRY(loop_of(**file, image))) return {};
            std::this_thread::sleep_for(between);
        }
        return fail(Code::unavailable, fmt::format("{} is still mounted, usually by a container", image),
                    "volume_in_use");
    }

private:
    static std::string why_refused() {
        for (const char* tool : {"mkfs.xfs", "xfs_repair", "xfs_logprint"})
            if (find_tool(tool).empty())
                return fmt::format("the program {} is not installed there (package xfsprogs)", tool);
        // A source that is none: how far the kernel gets tells what it can and lets us do.
        if (::mount("/dev/null/none", "/", "xfs", MS_NOSUID | MS_NODEV, nullptr) != 0) {
            if (errno == EPERM || errno == EACCES) return "its agent may not mount: run it as root";
            if (errno == ENODEV) return "its kernel has no XFS";
        }
        if (::access("/dev/loop-control", R_OK | W_OK) != 0)
            return fmt::format("its agent has no loop devices: /dev/loop-control: {}", std::strerror(errno));
        return {};
    }

    static dev_t device_of(const Loop& loop) {
        struct stat status{};
        return ::fstat(*loop.device, &status) == 0 ? status.st_rdev : 0;
    }

    static Result<> mount_device(const Loop& loop, const std::string& at) {
        const auto device = device_path(loop.number);
        if (::mount(device.c_str(), at.c_str(), "xfs", MS_NOSUID | MS_NODEV, "noquota") == 0) return {};
        // What XFS says of a structure that is wrong (EFSCORRUPTED), of a sum that is, of what is no XFS.
        if (errno == EUCLEAN || errno == EBADMSG || errno == EINVAL)
            return fail(Code::unavailable, std::strerror(errno), "volume_damaged");
        return disk_error("mount", device);
    }

    // A repair that outlives the agent that began it is waited for, not joined.
    static Result<Descriptor> alone(const std::string& image) {
        auto file = TRY(open_image(image));
        if (::flock(*file, LOCK_EX | LOCK_NB) != 0)
            return fail(Code::unavailable, fmt::format("{} is being repaired; ask again later", image));
        return file;
    }

    // Whether it was closed as it should be. If not, mounting it brings back all that was ever synced.
    static Result<std::string> look_into(const std::string& image) {
        const auto file = TRY(alone(image));
        constexpr auto look_max = seconds{60};
        const auto end = TRY(run_tool({"xfs_logprint", "-t", image}, look_max, *file));
        if (end.output.find("<DIRTY>") == std::string::npos) return "";
        return "its file system had not been closed, as after a power cut, and recovered from its log";
    }

    static Result<std::string> repair(const std::string& image) {
        const auto file = TRY(alone(image));
        constexpr auto repair_max = std::chrono::hours{1};
        // Never with -L: that would throw away what a program was told is durable.
        const auto end = TRY(run_tool({"xfs_repair", image}, repair_max, *file));
        if (end.exit_code != 0) return damaged(image, last_line(end.output));
        return "its file system was damaged and has been repaired; files that lost their names are in "
               "lost+found";
    }

    mutable std::atomic<bool> known_good_ = false;  // It may be mended while we run, and does not break.
};

class NoImages final : public Images {
public:
    std::string refused() const override { return {}; }
    Result<> set_aside(int, std::uint64_t) override { return {}; }
    Result<> format(const std::string&) override { return {}; }
    Result<std::string> mount(const std::string&, const std::string&) override { return ""; }
    Result<> unmount(const std::string&, const std::string&) override { return {}; }
};

}  // namespace

Result<bool> is_mounted(const std::string& at) {
    return TRY(device_at(at)) != TRY(device_at(std::filesystem::path{at}.parent_path()));
}

std::unique_ptr<Images> loop_images() { return std::make_unique<LoopImages>(); }
std::unique_ptr<Images> no_images() { return std::make_unique<NoImages>(); }

}  // namespace hostler::disk
