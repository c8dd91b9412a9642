// What a ring of sealing keys promises (ports/sealer.h).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "ports/sealer.h"

namespace hostler::contract {

class SealerRig {
public:
    virtual ~SealerRig() = default;
    virtual Sealer& sealer() = 0;
    virtual Sealer& stranger() = 0;  // Another ring.
    virtual void reopen() = 0;       // As after a restart.
};

struct SealerKind {
    std::string name;
    std::function<std::unique_ptr<SealerRig>()> make;
};

inline void PrintTo(const SealerKind& kind, std::ostream* to) { *to << kind.name; }

class SealerContract : public ::testing::TestWithParam<SealerKind> {
protected:
    Sealer& sealer() { return rig_->sealer(); }
    std::unique_ptr<SealerRig> rig_ = GetParam().make();
};

}  // namespace hostler::contract
