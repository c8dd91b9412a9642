// The list of keys that operators had certified, beside the authority's keys: FOLDER/issued, a line for each.
#pragma once

#include "core/result.h"
#include "ports/issued_keys.h"

namespace hostler::net {

class FolderOfIssuedKeys final : public IssuedKeys {
public:
    explicit FolderOfIssuedKeys(std::string folder) : path_(std::move(folder) + "/issued") {}
    // A line that a crash has torn is not there. Reads the file each time: `hostler ca issue` writes it.
    std::vector<IssuedKey> all() const override;
    // Durable when it returns, and once however often it is noted. Errors: unavailable.
    Result<> note(const IssuedKey& issued);

private:
    std::string path_;
};

}  // namespace hostler::net
