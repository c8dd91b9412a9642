// What volumes on a host promise (ports/volumes.h).
#pragma once

#include "ports/volumes.h"
#include "rig.h"

namespace hostler::contract {

class VolumesRig : public Rig {
public:
    virtual HostVolumes& volumes() = 0;  // None at first.
    virtual void restart() = 0;          // The process ends and comes again.
};

class VolumesContract : public Contract<VolumesRig> {
protected:
    HostVolumes& volumes() { return rig_->volumes(); }
    std::string make(std::string id) {
        const auto made = run(volumes().create(std::move(id), 1000));
        EXPECT_TRUE(made) << made.error().message;
        return made.value_or("");
    }
    std::vector<std::string> all() { return run(volumes().list()).value(); }
};

}  // namespace hostler::contract
