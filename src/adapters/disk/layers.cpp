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
#include <thread>

#include "adapters/disk/file.h"
#include "adapters/disk/tool.h"
#include "core/log.h"
#include "core/names.h"

namespace hostler::disk {

namespace fs = std::filesystem;

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
    // Errors: not_found (the engine has no such folder any more).
    Result<> mount_again(const std::string& name, const std::string& at) const {
        if (TRY(is_mounted(at))) return {};
        const auto note = TRY(images->mount(in_store(name, "image"), at));
        if (!note.empty()) log_info("layer {}: {}", name, note);
        return {};
    }

    Result<> check_room(const std::string& name) const {
        struct statvfs space{};
        if (::fstatvfs(*store, &space) != 0) return disk_error("measure", path);
        constexpr std::uint64_t part = 20;
        const auto unit = static_cast<std::uint64_t>(space.f_frsize);
        const auto kept = std::min(settings.keep_free_max, space.f_blocks * unit / part);
        if (space.f_bavail * unit > kept) return {};
        return fail(
            Code::exhausted,
            fmt::format("there is no room for what container {} writes: {} MiB are free on the host's "
                        "disk, and {} MiB stay free",
                        name, space.f_bavail * unit >> 20, kept >> 20),
            "disk_full");
    }

    Result<> make(const std::string& name, const std::string& folder, std::uint64_t bytes) const {
        const auto image = in_store(name, "image"), first = in_store(name, "first");
        if (::mkdirat(*store, name.c_str(), 0700) != 0) return disk_error("make", in_store(name, ""));
        {
            const Descriptor file{
                ::open(image.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
            const auto size = std::max(bytes, Layers::bytes_min);
            if (!file.open() || ::ftruncate(*file, static_cast<off_t>(size)) != 0)
                return disk_error("make", image);
        }
        TRY(images->format(image));
        TRY(images->mount(image, first));
        // With owners and attributes: what an engine has put there says whose it is.
        constexpr auto copy_max = std::chrono::seconds{60};
        const auto copied = TRY(run_tool({"cp", "-a", folder + "/.", first}, copy_max));
        if (copied.exit_code != 0)
            return fail(Code::unavailable,
                        fmt::format("cannot fill the layer of {}: {}", name, copied.output));
        if (::symlink(folder.c_str(), in_store(name, "at").c_str()) != 0)
            return disk_error("name the place of", image);
        // Moved and not mounted again: its device never goes meanwhile.
        if (::mount(first.c_str(), folder.c_str(), nullptr, MS_MOVE, nullptr) != 0 &&
            (errno != EINVAL || ::mount(first.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) != 0))
            return disk_error("mount the layer at", folder);
        return unmount(first);
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

Result<> LayerStore::hold(const std::string& name, const std::string& folder, std::uint64_t bytes) {
    if (!is_plain_name(name)) return fail(Code::invalid, fmt::format("'{}' is no name for a layer", name));
    if (const auto why = refused(); !why.empty())
        return fail(Code::invalid, fmt::format("this host limits no container's disk: {}", why),
                    "layers_refused");
    if (root_->place_of(name) == folder) return root_->mount_again(name, folder);
    TRY(release(name));  // Half of one, or of another container that had the name.
    TRY(root_->check_room(name));
    if (auto made = root_->make(name, folder, bytes); !made) {
        (void)release(name);
        return made;
    }
    return {};
}

Result<> LayerStore::release(const std::string& name) {
    if (!is_plain_name(name)) return fail(Code::invalid, fmt::format("'{}' is no name for a layer", name));
    const Descriptor in{
        ::openat(*root_->store, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!in.open())
        return errno == ENOENT ? Result<>{} : Result<>{disk_error("open", root_->in_store(name, ""))};
    if (const auto at = root_->place_of(name); !at.empty()) TRY(Root::unmount(at));
    TRY(Root::unmount(root_->in_store(name, "first")));
    TRY(empty_folder(*in, root_->in_store(name, "")));
    if (::unlinkat(*root_->store, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
        return disk_error("remove", root_->in_store(name, ""));
    return {};
}

void LayerStore::sweep() {
    for (const auto& name : root_->names()) {
        const auto at = root_->place_of(name);
        if (!at.empty())
            if (const auto there = is_mounted(at); there || there.error().code != Code::not_found) continue;
        if (auto gone = release(name); !gone) log_warn("layer {}: {}", name, gone.error().message);
    }
}

void LayerStore::mount() {
    for (const auto& name : root_->names())
        if (const auto at = root_->place_of(name); !at.empty())
            if (auto there = root_->mount_again(name, at); !there && there.error().code != Code::not_found)
                log_warn("layer {}: {}", name, there.error().message);
}

Result<> LayerStore::unmount() {
    Result<> ended{};
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
    Task<> hold(std::string name, std::string folder, std::uint64_t bytes) override {
        co_return co_await run_on<void>(
            worker_, [store = store_, name, folder, bytes] { return store->hold(name, folder, bytes); });
    }
    Task<> release(std::string name) override {
        co_return co_await run_on<void>(worker_, [store = store_, name] { return store->release(name); });
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
