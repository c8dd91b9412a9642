// What every journal promises (ports/journal.h).
#pragma once

#include "ports/journal.h"
#include "rig.h"

namespace hostler::contract {

class JournalRig : public Rig {
public:
    virtual Journal& journal() = 0;  // Empty at first.
    virtual void restart() = 0;      // Its process ends and comes again.
};

class JournalContract : public Contract<JournalRig> {
protected:
    Journal& journal() { return rig_->journal(); }
    Result<> put(std::string key, std::string value) {
        return run(journal().put(std::move(key), std::move(value)));
    }
};

}  // namespace hostler::contract
