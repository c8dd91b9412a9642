// The disk of a container that was made and not started yet: its limit, and the volumes of its image.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/docker/engine.h"
#include "adapters/docker/image.h"
#include "domain/image/image.h"

namespace hostler::docker {

namespace {

constexpr std::size_t known_max = 4096;

}  // namespace

// Why what containers write is not limited; empty: it is.
Task<std::string> DockerEngine::disk_unlimited() {
    const auto engine = CO_TRY(co_await traits());
    if (!settings_.layers) co_return std::string{"nothing here limits the disk of containers"};
    if (!engine.storage.starts_with("overlay"))
        co_return fmt::format("the engine's storage driver is {}, and not overlay", engine.storage);
    co_return co_await settings_.layers->refused();
}

// Of one that was made and has not been started yet: its limit, and its volumes. Gives its limit; 0: it has
// none.
Task<std::uint64_t> DockerEngine::make_disk(const ContainerSpec& spec, std::string id) {
    const bool podman = CO_TRY(co_await traits()).dialect == Dialect::podman;
    const bool limited = spec.disk_bytes > 0 || spec.layer == LayerStart::kept;
    if (!podman && !limited && spec.mounts.empty()) co_return 0;
    const auto there = CO_TRY(co_await inspect(std::move(id)));
    if (!there) co_return fail(Code::unavailable, fmt::format("container {} has gone again", spec.name));
    const auto bytes = limited ? CO_TRY(co_await limit_disk(spec, *there)) : 0;
    const auto volumes = bytes > 0 ? there->volumes : std::vector<ImageVolume>{};
    if (!spec.mounts.empty() || !volumes.empty())
        CO_TRY(co_await run_on<void>(worker_,
                                     [mounts = spec.mounts, ids = spec.ids, layer = there->layer,
                                      layers = there->image_layers, volumes]() -> Result<> {
                                         TRY(give_tops(mounts, layers, ids));
                                         return lay_volumes(layer, volumes);
                                     }));
    if (podman) CO_TRY(co_await make_volume_folders(spec, *there));
    co_return bytes;
}

// Those that the image declares as volumes and does not have: podman makes none where it makes no volumes.
Task<> DockerEngine::make_volume_folders(const ContainerSpec& spec, const Inspected& there) {
    auto known = image_volumes_.find(there.image);
    if (known == image_volumes_.end()) {
        auto declared = image_volumes(CO_TRY(co_await image_facts(spec.image)));
        if (image_volumes_.size() >= known_max) image_volumes_.clear();
        known = image_volumes_.emplace(there.image, std::move(declared)).first;
    }
    if (known->second.empty()) co_return Result<>{};
    std::vector<std::string> layers{there.layer + "/diff"};  // Of an earlier run, where it was kept.
    layers.insert(layers.end(), there.image_layers.begin(), there.image_layers.end());
    const auto missing = CO_TRY(co_await run_on<std::vector<ArchiveFile>>(
        worker_, [layers, declared = known->second]() -> Result<std::vector<ArchiveFile>> {
            return missing_folders(layers, declared);
        }));
    if (missing.empty()) co_return Result<>{};
    const auto answer =
        CO_TRY(co_await api_.call("PUT", target(container_path(there.id, "/archive"), {{"path", "/"}}),
                                  settings_.start_time, archive_of(missing), "application/x-tar"));
    if (answer.success()) co_return Result<>{};
    co_return std::unexpected(
        call_error(answer, fmt::format("container {}: cannot make the folders of its image", spec.name)));
}

Task<std::uint64_t> DockerEngine::limit_disk(const ContainerSpec& spec, const Inspected& there) {
    auto why = CO_TRY(co_await disk_unlimited());
    if (why.empty() && there.layer.empty()) why = "the engine does not say where containers write";
    if (why.empty())
        co_return co_await settings_.layers->hold(
            spec.name, there.layer, static_cast<std::uint64_t>(std::max<std::int64_t>(spec.disk_bytes, 0)),
            spec.layer);
    if (spec.layer == LayerStart::kept)
        co_return fail(
            Code::not_found,
            fmt::format("the written files of container {} cannot be attached to it: {}", spec.name, why),
            std::string{layer_missing});
    if (!spec.disk_limit_required) co_return 0;
    co_return fail(Code::invalid,
                   fmt::format("container {} is to have a limit of its disk, and this host sets none: {}",
                               spec.name, why),
                   "disk_unlimited");
}

}  // namespace hostler::docker
