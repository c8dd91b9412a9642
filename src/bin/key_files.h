// What commands that carry keys share: passphrases, new files for their owner alone, exit codes.
#pragma once

#include <string.h>

#include <string>
#include <string_view>

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

// Never over another file. Errors: conflict, unavailable.
Result<> write_new(const std::string& path, std::string_view text);

int told_keys(const Result<>& result);  // Says what is wrong; the exit code.

}  // namespace hostler::bin
