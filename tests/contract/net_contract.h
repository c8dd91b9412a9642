// What every network promises (core/stream.h), and its clock (core/timers.h).
#pragma once

#include "core/stream.h"
#include "ports/authority.h"
#include "rig.h"

namespace hostler::contract {

class NetRig : public Rig {
public:
    virtual Net& net() = 0;
    virtual Keys& keys() = 0;
    virtual Authority& authority() = 0;
    virtual Authority& stranger() = 0;  // Another one.
};

class NetContract : public Contract<NetRig> {
protected:
    struct Ends {
        StreamPtr client;
        StreamPtr server;
    };
    Ends connect();
    struct Secured {
        Result<StreamPtr> client;
        Result<StreamPtr> server;
    };
    Secured secure(Secure client, Secure server);
    // Good for an hour around now; believes our authority, whoever signed it.
    std::shared_ptr<const Credentials> issue(const Identity& identity, Authority& by,
                                             Duration from = std::chrono::minutes{-30});
    std::shared_ptr<const Credentials> issue(const Identity& identity) {
        return issue(identity, rig_->authority());
    }
    Result<> say(Stream& stream, std::string text);
    std::string hear(Stream& stream, std::size_t size);
    std::size_t hear_some(Stream& stream);
    // What a waiting task answers once `trigger` has been done.
    Result<> woken(Task<> task, const std::function<void()>& trigger);
};

}  // namespace hostler::contract
