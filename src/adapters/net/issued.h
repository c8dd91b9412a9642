// The list of keys that operators had certified, beside the authority's keys: FOLDER/issued, a line for each.
#pragma once

#include <cstdint>
#include <set>

#include "core/result.h"
#include "ports/issued_keys.h"

namespace hostler::net {

class FolderOfIssuedKeys final : public IssuedKeys {
public:
    explicit FolderOfIssuedKeys(std::string folder) : path_(std::move(folder) + "/issued") {}
    // A line that a crash has torn, or the disk has changed, is not there, and the log names it once. Reads
    // the file each time: `hostler ca issue` writes it.
    std::vector<IssuedKey> all() const override;
    // Durable when it returns, and once however often it is noted. Errors: unavailable.
    Result<> note(const IssuedKey& issued);

private:
    void tell_of_damage(std::int64_t at) const;

    std::string path_;
    mutable std::set<std::int64_t> told_{};  // Where lines begin that the log has named.
};

}  // namespace hostler::net
