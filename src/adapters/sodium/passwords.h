// Passwords by argon2id, on threads of their own.
#pragma once

#include <cstdint>
#include <memory>

#include "core/suspend.h"
#include "ports/passwords.h"

namespace hostler::sodium {

// What one hash costs; `at_once` of them may run side by side.
struct PasswordCost {
    std::uint64_t passes = 2;
    std::uint64_t memory_bytes = std::uint64_t{64} << 20;
    std::size_t at_once = 2;
};

std::unique_ptr<Passwords> make_passwords(Loop& loop, PasswordCost cost = {});

}  // namespace hostler::sodium
