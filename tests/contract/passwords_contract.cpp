#include "passwords_contract.h"

#include <algorithm>

namespace hostler::contract {
namespace {

TEST_P(PasswordsContract, AHashIsOfItsPasswordAlone) {
    const std::string hash = run(rig_->passwords().hash("correct horse")).value();
    EXPECT_FALSE(hash.contains("correct horse"));
    EXPECT_TRUE(std::ranges::all_of(hash, [](char c) { return c > ' ' && c <= '~'; })) << hash;
    EXPECT_EQ(run(rig_->passwords().verify("correct horse", hash)), true);
    for (const char* wrong : {"correct hors", "correct horse ", "Correct horse", ""})
        EXPECT_EQ(run(rig_->passwords().verify(wrong, hash)), false) << wrong;
}

TEST_P(PasswordsContract, TheSamePasswordTwiceGivesTwoHashes) {
    const std::string one = run(rig_->passwords().hash("correct horse")).value();
    const std::string two = run(rig_->passwords().hash("correct horse")).value();
    EXPECT_NE(one, two);
    EXPECT_EQ(run(rig_->passwords().verify("correct horse", two)), true);
}

TEST_P(PasswordsContract, BytesOfAnyKindArePasswords) {
    const std::string odd{"p\0ss\xff\xc3 \n", 8};
    const std::string hash = run(rig_->passwords().hash(odd)).value();
    EXPECT_EQ(run(rig_->passwords().verify(odd, hash)), true);
    EXPECT_EQ(run(rig_->passwords().verify(odd.substr(0, 1), hash)), false);
}

TEST_P(PasswordsContract, OtherTextsAreHashesOfNothing) {
    const std::string hash = run(rig_->passwords().hash("correct horse")).value();
    for (const std::string& text :
         {std::string{}, std::string{"correct horse"}, hash.substr(0, hash.size() - 1), hash + "x",
          std::string{"$argon2id$v=19$m=65536,t=2,p=1$"}, std::string(5000, '$')})
        EXPECT_EQ(run(rig_->passwords().verify("correct horse", text)), false) << text;
}

TEST_P(PasswordsContract, AsManyAsMayWaitAndNoMore) {
    constexpr std::size_t at_once = 2, many = Passwords::waiting_max + at_once;
    std::vector<std::optional<Result<std::string>>> answers(many + 3);
    TaskGroup group{rig_->loop()};
    for (auto& answer : answers)
        group.start("hash", [](Passwords& passwords, auto& into) -> Task<> {
            into.emplace(co_await passwords.hash("correct horse"));
            co_return Result<>{};
        }(rig_->passwords(), answer));
    rig_->drive([&] { return group.size() == 0; });
    std::size_t hashed = 0, refused = 0;
    for (const auto& answer : answers) {
        hashed += *answer ? 1 : 0;
        refused += !*answer && answer->error().code == Code::exhausted &&
                           answer->error().reason == "too_many_sign_ins"
                       ? 1
                       : 0;
    }
    EXPECT_EQ(hashed, many);
    EXPECT_EQ(refused, 3u);
    EXPECT_TRUE(run(rig_->passwords().hash("correct horse")));  // There is room again.
}

TEST_P(PasswordsContract, ACallerThatIsCancelledLeavesRoom) {
    {
        TaskGroup group{rig_->loop()};
        for (std::size_t i = 0; i < Passwords::waiting_max; ++i)
            group.start("hash", [](Passwords& passwords) -> Task<> {
                (void)co_await passwords.hash("correct horse");
                co_return Result<>{};
            }(rig_->passwords()));
        group.cancel();
        rig_->drive([&] { return group.size() == 0; });
    }
    EXPECT_TRUE(run(rig_->passwords().hash("correct horse")));
}

}  // namespace
}  // namespace hostler::contract
