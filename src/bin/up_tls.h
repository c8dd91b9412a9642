// The certificate of API and gateway that `hostler up --tls` makes, and the authority that signs it.
#pragma once

#include <filesystem>

#include "adapters/net/web_issuer.h"

namespace hostler::bin {

// Where it lies in the folder of the cloud.
struct UpTlsFiles {
    explicit UpTlsFiles(const std::filesystem::path& data);
    std::filesystem::path folder;         // What nobody else may read:
    std::filesystem::path authority_key,  // of `authority`,
        certificate, key;                 // and what the roles show.
    std::filesystem::path authority;      // What clients believe.
};

// Makes what is missing, is for other names, or ends soon. Files that are good stay as they are. true: the
// authority is new, and clients have to be told of it. Errors: invalid: a name; unavailable: the disk.
Result<bool> keep_up_tls(const UpTlsFiles& files, const ServerNames& names, Random& random, WallTime now);

}  // namespace hostler::bin
