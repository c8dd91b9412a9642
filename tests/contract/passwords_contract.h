// What hashes of passwords promise (ports/passwords.h).
#pragma once

#include "ports/passwords.h"
#include "rig.h"

namespace hostler::contract {

class PasswordsRig : public Rig {
public:
    virtual Passwords& passwords() = 0;
};

using PasswordsContract = Contract<PasswordsRig>;

}  // namespace hostler::contract
