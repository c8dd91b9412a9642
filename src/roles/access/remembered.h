// What an access point knows over a restart: the highest epoch of a master, and who is cut off for good.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "ports/journal.h"

namespace hostler::access {

class Remembered {
public:
    explicit Remembered(Journal& journal);

    std::uint64_t epoch() const { return epoch_; }
    Task<> raise(std::uint64_t epoch);  // Never lowers it.
    bool revoked(const std::string& host) const { return revoked_.contains(host); }
    // Holds from the moment of the call. Nobody is ever taken back: ids are not used twice.
    void revoke(std::string host);
    // All that is revoked is durable when it returns. Errors: as the journal's; it may be tried again.
    Task<> write();

private:
    Journal& journal_;
    std::uint64_t epoch_ = 0;
    std::set<std::string> revoked_;
    std::set<std::string> unwritten_;
};

}  // namespace hostler::access
