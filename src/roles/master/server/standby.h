// The estate as the store had it a moment ago. A master that follows keeps this copy up to date, so that its
// term begins with what changed since and not with loading everything.
#pragma once

#include "roles/master/state/estate.h"
#include "roles/master/state/ports.h"

namespace hostler::master {

class Standby {
public:
    explicit Standby(const Ports& world) : ports_(world) {}

    // Brings the copy up to the store's last commit. The loop goes on meanwhile: it reads a part at a time.
    // Errors: those of the store; conflict (sealing_key_missing), internal (an object that cannot be read),
    // cancelled. An object that cannot be read makes the next call begin with everything.
    Task<> catch_up();
    // Catches up until it is cancelled. Errors: cancelled.
    Task<> keep(Duration pause);

    bool loaded() const { return loaded_; }
    std::uint64_t number() const { return at_.number; }  // The last commit in the copy.
    std::uint64_t loads() const { return loads_; }       // How often it read everything.
    Estate take();                                       // The next call begins with everything.

private:
    Task<> read(std::vector<Object> objects);

    const Ports& ports_;
    Estate estate_;
    StorePoint at_;
    bool loaded_ = false;
    std::uint64_t loads_ = 0;
};

}  // namespace hostler::master
