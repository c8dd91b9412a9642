// What volumes on a host promise (ports/volumes.h).
#pragma once

#include "ports/volumes.h"
#include "rig.h"

namespace hostler::contract {

class VolumesRig : public Rig {
public:
    virtual HostVolumes& volumes() = 0;  // None at first.
    virtual void restart() = 0;          // The process ends and comes again.
    // What fits into the volume, about; what it holds already included.
    virtual std::uint64_t bytes_in(const std::string& id, const std::string& folder) = 0;
};

class VolumesContract : public Contract<VolumesRig> {
protected:
    static constexpr std::uint64_t size = HostVolumes::size_min;
    HostVolumes& volumes() { return rig_->volumes(); }
    // Its folder.
    std::string make(std::string id, std::uint64_t bytes = size) {
        const auto made = run(volumes().create(id, bytes));
        EXPECT_TRUE(made) << made.error().message;
        return folder(id);
    }
    std::string folder(std::string id) {
        const auto attached = run(volumes().attach(std::move(id), {}));
        EXPECT_TRUE(attached) << attached.error().message;
        return attached ? attached->folder : "";
    }
    std::vector<std::string> all() { return run(volumes().list()).value(); }
};

}  // namespace hostler::contract
