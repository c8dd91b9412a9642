// The Layers port: sparse images on the host's disk, mounted where an engine keeps what containers write.
#pragma once

#include <memory>

#include "adapters/disk/images.h"
#include "core/worker.h"
#include "ports/layers.h"

namespace hostler::disk {

struct LayerSettings {
    std::string folder;  // Private to its owner; made if it is not there.
    // Room on the disk below which none is made: of that what a twentieth of the disk is more.
    std::uint64_t keep_free_max = std::uint64_t{4} << 30;
};

// In `folder`, by name: `image`; `first`, where it is mounted while it is filled; `at`, a link to the folder
// where it is mounted then; `kept`, while it outlives its container, until the next one has it. One that was
// made ahead is called ".ahead-N", which is no container's name, has an `image` and is mounted on `first`;
// the container that takes it gives it its name. Every call blocks. Not for two at a time.
class LayerStore {
public:
    // Errors: unavailable (the folder cannot be made).
    static Result<LayerStore> open(LayerSettings settings, std::unique_ptr<Images> images = loop_images());
    ~LayerStore();
    LayerStore(LayerStore&&) noexcept;

    // Takes away what a crash left half made, what was made ahead, and those whose containers somebody else
    // took away, unless they are kept. What it cannot is told of, and left for later.
    void sweep();
    // As the port has them (ports/layers.h).
    std::string refused() const;
    Result<std::uint64_t> hold(const std::string& name, const std::string& folder, std::uint64_t bytes,
                               LayerStart start);
    Result<> release(const std::string& name, LayerEnd end);
    std::vector<KeptLayer> kept() const;
    std::map<std::string, DiskUse> uses() const;
    // As the port's make_ahead(), and makes one at most.
    Result<std::size_t> make_one_ahead(std::size_t count, std::uint64_t bytes);
    // Mounts all again, as after the machine's end, for containers that are to go on. The engine runs: some
    // mount their folder on itself when they begin, which hides what was mounted in it before.
    void mount();
    // Unmounts all, whose containers do not run, and takes away what was made ahead. Errors: the first one's
    // that cannot be.
    Result<> unmount();

private:
    struct Root;
    explicit LayerStore(std::unique_ptr<Root> root);
    std::unique_ptr<Root> root_;
};

// Begins with a sweep(). The worker outlives them. Errors: unavailable (the folder cannot be made).
Result<std::unique_ptr<Layers>> open_layers(Worker& worker, LayerSettings settings,
                                            std::unique_ptr<Images> images = loop_images());

}  // namespace hostler::disk
