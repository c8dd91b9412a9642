// The Passwords port by libsodium on threads, and in the simulation.
#include "adapters/sim/passwords.h"
#include "adapters/sodium/passwords.h"
#include "passwords_contract.h"
#include "world_rig.h"

namespace hostler::contract {

namespace {

// The least that libsodium takes: the suite asks for how it behaves, not for how slow it is.
class SodiumPasswordsRig final : public RealRig<PasswordsRig> {
public:
    Passwords& passwords() override { return *passwords_; }

private:
    std::unique_ptr<Passwords> passwords_ =
        sodium::make_passwords(loop_, {.passes = 1, .memory_bytes = 64 << 10});
};

class SimPasswordsRig final : public WorldRig<PasswordsRig> {
public:
    Passwords& passwords() override { return passwords_; }

private:
    sim::SimPasswords passwords_{life().timers, sim::Dice{1}};
};

INSTANTIATE_TEST_SUITE_P(
    All, PasswordsContract,
    ::testing::Values(Kind<PasswordsRig>{"sodium", [] { return std::make_unique<SodiumPasswordsRig>(); }},
                      Kind<PasswordsRig>{"sim", [] { return std::make_unique<SimPasswordsRig>(); }}),
    kind_name);

TEST(SodiumPasswords, TheDefaultIsArgon2idWith64MiB) {
    Loop loop;
    const auto passwords = sodium::make_passwords(loop);
    std::optional<Result<std::string>> hash;
    TaskGroup group{loop};
    group.start("hash", [](Passwords& of, auto& into) -> Task<> {
        into.emplace(co_await of.hash("correct horse"));
        co_return Result<>{};
    }(*passwords, hash));
    while (!hash && loop.run_one() > 0) {
    }
    EXPECT_TRUE(hash->value().starts_with("$argon2id$v=19$m=65536,t=2,p=1$")) << hash->value();
}

}  // namespace

}  // namespace hostler::contract
