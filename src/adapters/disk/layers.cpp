#include "adapters/disk/layers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <thread>

#include "adapters/disk/file.h"
#include "adapters/disk/small_copy.h"
#include "adapters/disk/tool.h"
#include "adapters/disk/use.h"
#include "core/log.h"
#include "core/names.h"

namespace hostler::disk {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view ahead_prefix = ".ahead-";

}  // namespace

struct LayerStore::Root {
    LayerSettings settings;
    std::unique_ptr<Images> images;
    std::string path;
    Descriptor store;

    std::string in_store(std::string_view name, std::string_view what) const {
        return fmt::format("{}/{}/{}", path, name, what);
    }

    // Where it is to be mounted; empty: it was not made to its end.
    std::string place_of(const std::string& name) const {
        std::error_code error;
        const auto at = fs::read_symlink(in_store(name, "at"), error);
        return error ? "" : at.string();
    }
    std::vector<std::string> names() const {
        std::error_code error;
        std::vector<std::string> found;
        for (const auto& entry : fs::directory_iterator{path, error})
            if (is_plain_name(entry.path().filename().string())) found.push_back(entry.path().filename());
        return found;
    }
    std::vector<std::string> ahead() const {
        std::error_code error;
        std::vector<std::string> found;
        for (const auto& entry : fs::directory_iterator{path, error})
            if (std::string name = entry.path().filename(); name.starts_with(ahead_prefix))
                found.push_back(std::move(name));
        std::ranges::sort(found);
        return found;
    }
    // Errors: not_found (the engine has no such folder any more).
    Result<> mount_again(const std::string& name, const std::string& at) const {
        if (TRY(is_mounted(at))) return {};
        const auto note = TRY(images->mount(in_store(name, "image"), at));
        if (!note.empty()) log_info("layer {}: {}", name, note);
        return {};
    }

    struct Space {
        std::uint64_t free = 0, kept = 0;  // Bytes.
        bool is_short() const { return free <= kept; }
        // For an empty layer of this size: 64 MiB or a 2048th of it, and a little. More than it takes, so
        // that none is made in the room that one left which had to go.
        bool has_room_for(std::uint64_t size) const {
            constexpr std::uint64_t least = std::uint64_t{72} << 20, part = 1024;
            return free > kept + least + size / part;
        }
    };
    Result<Space> space() const {
        struct statvfs seen{};
        if (::fstatvfs(*store, &seen) != 0) return disk_error("measure", path);
        constexpr std::uint64_t part = 20;
        const auto unit = static_cast<std::uint64_t>(seen.f_frsize);
        return Space{seen.f_bavail * unit, std::min(settings.keep_free_max, seen.f_blocks * unit / part)};
    }

    Result<> check_room(const std::string& name) const {
        const Space now = TRY(space());
        if (!now.is_short()) return {};
        return fail(
            Code::exhausted,
            fmt::format("there is no room for what container {} writes: {} MiB are free on the host's "
                        "disk, and {} MiB stay free",
                        name, now.free >> 20, now.kept >> 20),
            "disk_full");
    }

    // An empty file system, mounted on `first`.
    Result<> make_empty(const std::string& name, std::uint64_t size) const {
        const auto image = in_store(name, "image");
        if (::mkdirat(*store, name.c_str(), 0700) != 0) return disk_error("make", in_store(name, ""));
        {
            const Descriptor file{
                ::open(image.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
            if (!file.open() || ::ftruncate(*file, static_cast<off_t>(size)) != 0)
                return disk_error("make", image);
        }
        TRY(images->format(image));
        TRY(images->mount(image, in_store(name, "first")));
        return {};
    }

    bool is_ready(const std::string& one, std::uint64_t size) const {
        const auto has = size_of(one);
        const auto mounted = is_mounted(in_store(one, "first"));
        return has && *has == size && mounted && *mounted;
    }

    // Whether one that was made ahead has this name now.
    bool take_ahead(const std::string& name, std::uint64_t size) const {
        for (const auto& one : ahead())
            if (is_ready(one, size) && ::renameat(*store, one.c_str(), *store, name.c_str()) == 0)
                return true;
        return false;
    }

    Result<> make(const std::string& name, const std::string& folder, std::uint64_t bytes) const {
        const auto size = std::max(bytes, Layers::bytes_min);
        bool filled = false;
        if (take_ahead(name, size)) {
            const auto done = fill(name, folder);
            filled = done.has_value();
            if (!filled) {
                log_warn("layer {}: the one that was made ahead is of no use: {}", name,
                         done.error().message);
                TRY(release(name, LayerEnd::lost));
            }
        }
        if (!filled) {
            TRY(make_empty(name, size));
            TRY(fill(name, folder));
        }
        TRY(name_place(name, folder));
        return move(in_store(name, "first"), folder);
    }

    // With owners and attributes: what an engine has put there says whose it is.
    Result<> fill(const std::string& name, const std::string& folder) const {
        const auto first = in_store(name, "first");
        if (TRY(copy_small(folder, first))) return {};
        constexpr auto copy_max = std::chrono::seconds{60};
        const auto copied = TRY(run_tool({"cp", "-a", folder + "/.", first}, copy_max));
        if (copied.exit_code != 0)
            return fail(Code::unavailable,
                        fmt::format("cannot fill the layer of {}: {}", name, copied.output));
        return {};
    }

    Result<std::uint64_t> size_of(const std::string& name) const {
        struct stat image{};
        if (::stat(in_store(name, "image").c_str(), &image) != 0)
            return disk_error("look at", in_store(name, "image"));
        return static_cast<std::uint64_t>(image.st_size);
    }
    bool is_kept(const std::string& name) const {
        struct stat link{};  // Itself: the folder that it names goes with its container.
        return ::lstat(in_store(name, "kept").c_str(), &link) == 0;
    }
    // In one step, so that a crash leaves the one or the other.
    Result<> name_place(const std::string& name, const std::string& folder) const {
        const auto next = in_store(name, "next"), at = in_store(name, "at");
        (void)::unlink(next.c_str());
        if (::symlink(folder.c_str(), next.c_str()) != 0 || ::rename(next.c_str(), at.c_str()) != 0)
            return disk_error("name the place of", in_store(name, "image"));
        return {};
    }

    // Under the container that is made now: what the engine keeps beside the files of the one before says
    // which layers of the image these lay on, and is of no use to it.
    Result<> lay_again(const std::string& name, const std::string& folder, std::uint64_t bytes) const {
        const auto image = in_store(name, "image"), first = in_store(name, "first");
        if (const auto at = place_of(name); !at.empty()) TRY(unmount(at));
        // Mounting it fills it.
        if (TRY(size_of(name)) < bytes && ::truncate(image.c_str(), static_cast<off_t>(bytes)) != 0)
            return disk_error("grow", image);
        TRY(unmount(first));
        if (const auto note = TRY(images->mount(image, first)); !note.empty())
            log_info("layer {}: {}", name, note);
        constexpr auto copy_max = std::chrono::seconds{60};
        const auto laid = TRY(
            run_tool({"sh", "-c",
                      "find \"$2\" -mindepth 1 -maxdepth 1 ! -name diff ! -name \"$3\" -exec rm -rf {} + && "
                      "find \"$1\" -mindepth 1 -maxdepth 1 ! -name diff -exec cp -a {} \"$2\" \\;",
                      "sh", folder, first, std::string{Layers::volumes_folder}},
                     copy_max));
        if (laid.exit_code != 0)
            return fail(Code::unavailable,
                        fmt::format("cannot lay the kept layer of {}: {}", name, laid.output));
        TRY(name_place(name, folder));
        TRY(move(first, folder));
        if (::unlink(in_store(name, "kept").c_str()) != 0 && errno != ENOENT)
            return disk_error("remove", in_store(name, "kept"));
        return {};
    }

    static Result<> move(const std::string& first, const std::string& folder) {
        // Moved and not mounted again: its device never goes meanwhile.
        if (::mount(first.c_str(), folder.c_str(), nullptr, MS_MOVE, nullptr) != 0 &&
            (errno != EINVAL || ::mount(first.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) != 0))
            return disk_error("mount the layer at", folder);
        TRY(unmount(first));
        // Monitors of containers that began meanwhile have copies of its mount, which go with the folder.
        if (::rmdir(first.c_str()) != 0 && errno != ENOENT) return disk_error("remove", first);
        return {};
    }

    // With what an engine has mounted within, if that is there still. An engine removes the folder then,
    // which takes the mount from other containers' monitors too: they have copies of all mounts of their
    // time.
    static Result<> unmount(const std::string& at) {
        constexpr int tries_max = 50;
        constexpr auto between = std::chrono::milliseconds{20};
        for (int tries = 1;; ++tries) {
            const auto mounted = is_mounted(at);
            if (!mounted)
                return mounted.error().code == Code::not_found ? Result<>{}
                                                               : std::unexpected(mounted.error());
            if (!*mounted) return {};
            // An engine may still be at cleaning up after the container.
            const int how = UMOUNT_NOFOLLOW | (tries < tries_max ? 0 : MNT_DETACH);
            if (::umount2(at.c_str(), how) == 0) continue;
            if (errno != EBUSY || tries >= 2 * tries_max) return disk_error("unmount", at);
            std::this_thread::sleep_for(between);
        }
    }

    Result<> release(const std::string& name, LayerEnd end) const {
        const Descriptor in{::openat(*store, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
        if (!in.open())
            return errno == ENOENT ? Result<>{} : Result<>{disk_error("open", in_store(name, ""))};
        const auto at = place_of(name);
        if (!at.empty()) TRY(unmount(at));
        TRY(unmount(in_store(name, "first")));
        if (end == LayerEnd::kept && (!at.empty() || is_kept(name))) {
            // Renamed: a crash leaves it where it was or kept, and never as one that nobody has.
            if (!at.empty() && ::renameat(*in, "at", *in, "kept") != 0)
                return disk_error("keep", in_store(name, "image"));
            if (::fsync(*in) != 0) return disk_error("sync", in_store(name, ""));
            return {};
        }
        TRY(empty_folder(*in, in_store(name, "")));
        if (::unlinkat(*store, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
            return disk_error("remove", in_store(name, ""));
        return {};
    }

    // The first error; the others go nevertheless.
    Result<> drop_ahead() const {
        Result<> ended{};
        for (const auto& one : ahead())
            if (auto gone = release(one, LayerEnd::lost); !gone && ended) ended = std::move(gone);
        return ended;
    }
};

LayerStore::LayerStore(std::unique_ptr<Root> root) : root_(std::move(root)) {}
LayerStore::LayerStore(LayerStore&&) noexcept = default;
LayerStore::~LayerStore() = default;

Result<LayerStore> LayerStore::open(LayerSettings settings, std::unique_ptr<Images> images) {
    auto folder = TRY(make_folder(settings.folder));
    if (::fchmod(*folder, 0700) != 0) return disk_error("protect", settings.folder);
    auto path = fs::absolute(settings.folder).lexically_normal().string();
    return LayerStore{
        std::make_unique<Root>(std::move(settings), std::move(images), std::move(path), std::move(folder))};
}

std::string LayerStore::refused() const { return root_->images->refused(); }

Result<std::uint64_t> LayerStore::hold(const std::string& name, const std::string& folder,
                                       std::uint64_t bytes, LayerStart start) {
    if (!is_plain_name(name)) return fail(Code::invalid, fmt::format("'{}' is no name for a layer", name));
    if (const auto why = refused(); !why.empty())
        return fail(Code::invalid, fmt::format("this host limits no container's disk: {}", why),
                    "layers_refused");
    if (root_->place_of(name) == folder) {
        TRY(root_->mount_again(name, folder));
        if (::unlink(root_->in_store(name, "kept").c_str()) != 0 && errno != ENOENT)
            return disk_error("remove", root_->in_store(name, "kept"));
        return root_->size_of(name);
    }
    const bool whole = root_->is_kept(name) || !root_->place_of(name).empty();
    if (start == LayerStart::kept && !whole)
        return fail(Code::not_found,
                    fmt::format("the files written by container {} are not on this host", name),
                    "layer_missing");
    if (start == LayerStart::empty)
        TRY(release(name, LayerEnd::lost));  // Half of one, or of another container that had the name.
    TRY(root_->check_room(name));
    if (start == LayerStart::kept) {
        TRY(root_->lay_again(name, folder, std::max(bytes, Layers::bytes_min)));
        return root_->size_of(name);
    }
    if (auto made = root_->make(name, folder, bytes); !made) {
        (void)release(name, LayerEnd::lost);
        return std::unexpected(std::move(made).error());
    }
    return root_->size_of(name);
}

std::vector<KeptLayer> LayerStore::kept() const {
    std::vector<KeptLayer> all;
    for (const auto& name : root_->names()) {
        struct stat since{}, image{};
        if (::lstat(root_->in_store(name, "kept").c_str(), &since) != 0 ||
            ::stat(root_->in_store(name, "image").c_str(), &image) != 0)
            continue;
        constexpr std::uint64_t block = 512;
        all.push_back({name, static_cast<std::uint64_t>(image.st_blocks) * block,
                       since.st_ctim.tv_sec * std::int64_t{1'000'000} + since.st_ctim.tv_nsec / 1000});
    }
    std::ranges::sort(all, {}, &KeptLayer::name);
    return all;
}

std::map<std::string, DiskUse> LayerStore::uses() const {
    std::map<std::string, DiskUse> uses;
    for (const auto& name : root_->names()) {
        const auto at = root_->place_of(name);
        if (at.empty()) continue;
        if (const auto use = use_at(at, fs::path{at}.parent_path())) uses[name] = *use;
    }
    return uses;
}

Result<> LayerStore::release(const std::string& name, LayerEnd end) {
    if (!is_plain_name(name)) return fail(Code::invalid, fmt::format("'{}' is no name for a layer", name));
    return root_->release(name, end);
}

Result<std::size_t> LayerStore::make_one_ahead(std::size_t count, std::uint64_t bytes) {
    const auto size = std::max(bytes, Layers::bytes_min);
    const auto space = TRY(root_->space());
    if (!refused().empty() || space.is_short()) count = 0;
    std::set<std::string> there;
    for (const auto& one : root_->ahead()) {
        if (there.size() < count && root_->is_ready(one, size))
            there.insert(one);
        else
            TRY(root_->release(one, LayerEnd::lost));
    }
    if (there.size() >= count || !space.has_room_for(size)) return there.size();
    std::string name;
    for (std::size_t number = 0; name.empty() || there.contains(name); ++number)
        name = fmt::format("{}{}", ahead_prefix, number);
    if (auto made = root_->make_empty(name, size); !made) {
        (void)root_->release(name, LayerEnd::lost);
        return std::unexpected(std::move(made).error());
    }
    return there.size() + 1;
}

void LayerStore::sweep() {
    if (auto gone = root_->drop_ahead(); !gone)
        log_warn("layers that were made ahead: {}", gone.error().message);
    for (const auto& name : root_->names()) {
        const auto at = root_->place_of(name);
        if (!at.empty())
            if (const auto there = is_mounted(at); there || there.error().code != Code::not_found) continue;
        const auto end = root_->is_kept(name) ? LayerEnd::kept : LayerEnd::lost;
        if (auto gone = release(name, end); !gone) log_warn("layer {}: {}", name, gone.error().message);
    }
}

void LayerStore::mount() {
    for (const auto& name : root_->names())
        if (const auto at = root_->place_of(name); !at.empty())
            if (auto there = root_->mount_again(name, at); !there && there.error().code != Code::not_found)
                log_warn("layer {}: {}", name, there.error().message);
}

Result<> LayerStore::unmount() {
    Result<> ended = root_->drop_ahead();
    for (const auto& name : root_->names())
        if (const auto at = root_->place_of(name); !at.empty())
            if (auto one = Root::unmount(at); !one && ended) ended = one;
    return ended;
}

namespace {

class DiskLayers final : public Layers {
public:
    DiskLayers(Worker& worker, std::shared_ptr<LayerStore> store)
        : worker_(worker), store_(std::move(store)) {
        worker_.post([store = store_] { store->sweep(); }, [] {});
    }

    Task<std::string> refused() override {
        co_return co_await run_on<std::string>(
            worker_, [store = store_]() -> Result<std::string> { return store->refused(); });
    }
    Task<std::uint64_t> hold(std::string name, std::string folder, std::uint64_t bytes,
                             LayerStart start) override {
        co_return co_await run_on<std::uint64_t>(worker_, [store = store_, name, folder, bytes, start] {
            return store->hold(name, folder, bytes, start);
        });
    }
    Task<> release(std::string name, LayerEnd end) override {
        co_return co_await run_on<void>(worker_,
                                        [store = store_, name, end] { return store->release(name, end); });
    }
    Task<std::vector<KeptLayer>> kept() override {
        co_return co_await run_on<std::vector<KeptLayer>>(
            worker_, [store = store_]() -> Result<std::vector<KeptLayer>> { return store->kept(); });
    }
    Task<std::map<std::string, DiskUse>> uses() override {
        co_return co_await run_on<std::map<std::string, DiskUse>>(
            worker_, [store = store_]() -> Result<std::map<std::string, DiskUse>> { return store->uses(); });
    }
    // One after the other: a container that starts meanwhile waits for one at most.
    Task<std::size_t> make_ahead(std::size_t count, std::uint64_t bytes) override {
        std::size_t before = 0;
        while (true) {
            const auto there = CO_TRY(co_await run_on<std::size_t>(
                worker_, [store = store_, count, bytes] { return store->make_one_ahead(count, bytes); }));
            if (there >= count || there <= before) co_return there;
            before = there;
        }
    }

private:
    Worker& worker_;
    std::shared_ptr<LayerStore> store_;
};

}  // namespace

Result<std::unique_ptr<Layers>> open_layers(Worker& worker, LayerSettings settings,
                                            std::unique_ptr<Images> images) {
    auto store = TRY(LayerStore::open(std::move(settings), std::move(images)));
    return std::make_unique<DiskLayers>(worker, std::make_shared<LayerStore>(std::move(store)));
}

}  // namespace hostler::disk
