// What commands that carry keys share: passphrases, sealed files, what is for its owner alone, exit codes.
#pragma once

#include <string.h>

#include <string>

#include "core/result.h"

namespace hostler::bin {

// Forgotten when it goes.
struct Secret {
    std::string text{};
    Secret() = default;
    Secret(Secret&& other) noexcept { text.swap(other.text); }
    Secret& operator=(Secret&&) = delete;
    ~Secret() { ::explicit_bzero(text.data(), text.size()); }
};

enum class Typed { once, twice };

// The first line of `file`; without one, what a person types. Errors: invalid, not_found, cancelled.
Result<Secret> passphrase(const std::string& file, Typed typed);

// Seals `keys` under a passphrase, never over another file. Errors: conflict, unavailable; invalid,
// exhausted: as sodium::seal(); those of passphrase().
Result<> write_sealed(const std::string& file, const std::string& passphrase_file, const Secret& keys);
// Errors: not_found; invalid, unauthenticated, exhausted: as sodium::unseal(); those of passphrase().
Result<Secret> read_sealed(const std::string& file, const std::string& passphrase_file);

int told_keys(const Result<>& result);  // Says what is wrong; the exit code.

}  // namespace hostler::bin
