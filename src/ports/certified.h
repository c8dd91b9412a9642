// A role's own key and certificate, renewed while it runs.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/stream.h"
#include "ports/authority.h"

namespace hostler {

// The key stays the same. Connections that are there go on with what they began with; the next one is made
// with what credentials() gives then.
class Certified {
public:
    // Makes a new certificate last, and whom to believe, before they are used. Errors: unavailable: it is
    // asked for again.
    using Keep = std::function<Task<>(std::string certificate, std::string authority)>;
    Certified(std::shared_ptr<const Credentials> own, Keys& keys, Keep keep);

    const std::shared_ptr<const Credentials>& credentials() const { return own_; }
    Identity identity() const { return identity_; }
    const ServerNames& names() const { return names_; }
    bool due(WallTime now) const {
        return now >= begins_ + (ends_ - begins_) / 3;
    }  // A third of its life is over.
    bool expired(WallTime now) const { return now >= ends_; }
    Result<std::string> request() const;  // What an authority signs. Errors: invalid: the key cannot be read.
    // `authority`: whom to believe from here on; empty: as before. Errors: unauthenticated: it is not for us
    // or our key, or ends earlier, or is what we have; invalid: no authority; those of Keep.
    Task<> renewed(std::string certificate, std::string authority = {});

private:
    std::shared_ptr<const Credentials> own_;
    Keys& keys_;
    Keep keep_;
    Identity identity_;
    ServerNames names_;
    WallTime begins_ = WallTime::max(), ends_ = WallTime::max();  // What cannot be read is never due.
};

}  // namespace hostler
