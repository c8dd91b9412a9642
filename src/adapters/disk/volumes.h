// Volumes as images on the host's disk, each a file system of its own that ends where it was asked to.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "adapters/disk/images.h"
#include "core/worker.h"
#include "ports/volumes.h"

namespace hostler::disk {

struct VolumeSettings {
    std::string folder;  // Private to its owner; made if it is not there.
    // Room on the disk that no volume gets: of that what a twentieth of the disk is more.
    std::uint64_t keep_free_max = volume_kept_free_max;
    // Before each step that a crash could part from the next. For tests, which end there.
    std::function<void(std::string_view step)> before_step{};
};

// In `folder`, by id: `image`, all of whose room the disk has set aside, and `fs`, where it is mounted. What
// a container gets is `fs/data`. Names with a dot before are on their way in or out. Every call blocks, some
// for as long as the disk takes. Not for two at a time.
class VolumeStore {
public:
    // Errors: unavailable (the folder cannot be made).
    static Result<VolumeStore> open(VolumeSettings settings, std::unique_ptr<Images> images);
    ~VolumeStore();
    VolumeStore(VolumeStore&&) noexcept;

    // Takes away what a crash left of volumes that were being made or removed. What it cannot is left for
    // later.
    void sweep();
    // As the port has them (ports/volumes.h).
    Result<> create(const std::string& id, std::uint64_t size_bytes);
    Result<HostVolumes::Attached> attach(const std::string& id, IdRange ids);
    Result<> remove(const std::string& id);
    Result<std::vector<std::string>> list() const;
    Result<HostVolumes::Room> room() const;
    Result<std::map<std::string, DiskUse>> uses() const;
    // What is mounted and in nobody's use is unmounted. Errors: the first volume's that cannot be.
    Result<> release();

private:
    struct Root;
    explicit VolumeStore(std::unique_ptr<Root> root);
    std::unique_ptr<Root> root_;
};

// Begins with a sweep(). `quick` is for what answers at once, `slow` for what does not; both outlive the
// volumes. Errors: unavailable (the folder cannot be made).
Result<std::unique_ptr<HostVolumes>> open_volumes(Worker& quick, Worker& slow, VolumeSettings settings,
                                                  std::unique_ptr<Images> images = loop_images());

}  // namespace hostler::disk
