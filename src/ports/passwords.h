// Hashes of passwords, slow on purpose.
#pragma once

#include <string>

#include "core/task.h"

namespace hostler {

// Each call costs memory and time of a CPU, so few run at once; the loop is not held up by them.
class Passwords {
public:
    static constexpr std::size_t waiting_max = 32;  // Beside those that run.

    virtual ~Passwords() = default;
    // A printable text that names its algorithm, its cost and its salt: the same password twice gives two
    // texts. Errors: exhausted (too_many_sign_ins: waiting_max wait already), cancelled.
    virtual Task<std::string> hash(std::string password) = 0;
    // Whether `hash` is of this password; what is no such text is of none. It takes as long as hash().
    // Errors: as those of hash().
    virtual Task<bool> verify(std::string password, std::string hash) = 0;
};

}  // namespace hostler
