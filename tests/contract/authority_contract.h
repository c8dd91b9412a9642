// What keys, authorities and digests promise (ports/authority.h, ports/digest.h).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "ports/authority.h"
#include "ports/digest.h"

namespace hostler::contract {

class AuthorityRig {
public:
    virtual ~AuthorityRig() = default;
    virtual Keys& keys() = 0;
    virtual Authority& authority() = 0;
    virtual Authority& stranger() = 0;  // Another one.
    virtual Digest& digest() = 0;
};

struct AuthorityKind {
    std::string name;
    std::function<std::unique_ptr<AuthorityRig>()> make;
};

inline void PrintTo(const AuthorityKind& kind, std::ostream* to) { *to << kind.name; }

class AuthorityContract : public ::testing::TestWithParam<AuthorityKind> {
protected:
    Keys& keys() { return rig_->keys(); }
    Authority& authority() { return rig_->authority(); }
    std::unique_ptr<AuthorityRig> rig_ = GetParam().make();
};

}  // namespace hostler::contract
