// What a keeper of ended instances' logs promises (ports/logs.h).
#pragma once

#include "ports/logs.h"
#include "rig.h"

namespace hostler::contract {

class LogsRig : public Rig {
public:
    static constexpr std::size_t kept_max = 4;  // So many instances' are kept.
    virtual LogStore& logs() = 0;               // None at first.
    virtual void restart() = 0;                 // The process ends and comes again.
};

class LogsContract : public Contract<LogsRig> {
protected:
    Result<> keep(std::string instance, std::string text) {
        return run(rig_->logs().keep(std::move(instance), std::move(text)));
    }
    Result<std::string> read(std::string instance, std::size_t bytes_max = 4096) {
        return run(rig_->logs().read(std::move(instance), bytes_max));
    }
};

}  // namespace hostler::contract
