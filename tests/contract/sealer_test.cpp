// The Sealer port on a file with libsodium, and in the simulation.
#include "adapters/sim/sealer.h"
#include "adapters/sodium/sealer.h"
#include "core/testing/temp_folder.h"
#include "sealer_contract.h"

namespace hostler::contract {

namespace {

class SodiumRig : public SealerRig {
public:
    Sealer& sealer() override { return *sealer_; }
    Sealer& stranger() override { return *stranger_; }
    void reopen() override { sealer_ = sodium::open_sealer(folder_.path() + "/ring").value(); }

private:
    testing::TempFolder folder_;
    std::unique_ptr<Sealer> sealer_ = sodium::open_sealer(folder_.path() + "/ring").value();
    std::unique_ptr<Sealer> stranger_ = sodium::open_sealer(folder_.path() + "/other").value();
};

class SimSealerRig : public SealerRig {
public:
    Sealer& sealer() override { return sealer_; }
    Sealer& stranger() override { return stranger_; }
    void reopen() override {}

private:
    sim::SimSealer sealer_{sim::Dice{1}}, stranger_{sim::Dice{2}};
};

INSTANTIATE_TEST_SUITE_P(All, SealerContract,
                         ::testing::Values(SealerKind{"sodium", [] { return std::make_unique<SodiumRig>(); }},
                                           SealerKind{"sim",
                                                      [] { return std::make_unique<SimSealerRig>(); }}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace

}  // namespace hostler::contract
