#include "sealer_contract.h"

#include <algorithm>

namespace hostler::contract {

TEST_P(SealerContract, WhatIsSealedOpensAgain) {
    const std::string key = sealer().make().value();
    for (const std::string& plain : {std::string{}, std::string{"x"}, std::string{"two\nlines\0and more", 18},
                                     std::string(100'000, 'y')}) {
        const std::string sealed = sealer().seal(key, "here", plain).value();
        EXPECT_TRUE(std::ranges::all_of(sealed, [](char c) { return c > ' ' && c <= '~' && c != ':'; }));
        EXPECT_EQ(sealed.find("lines"), std::string::npos);
        EXPECT_EQ(sealer().open(key, "here", sealed).value(), plain);
    }
}

TEST_P(SealerContract, ItOpensInItsPlaceAndWithItsKeyAlone) {
    const std::string key = sealer().make().value(), other = sealer().make().value();
    const std::string sealed = sealer().seal(key, "here", "secret").value();
    EXPECT_EQ(sealer().open(key, "there", sealed).error().code, Code::unauthenticated);
    EXPECT_EQ(sealer().open(key, "", sealed).error().code, Code::unauthenticated);
    EXPECT_EQ(sealer().open(other, "here", sealed).error().code, Code::unauthenticated);
    EXPECT_EQ(rig_->stranger().open(key, "here", sealed).error().code, Code::not_found);
    EXPECT_EQ(rig_->stranger().seal(key, "here", "secret").error().code, Code::not_found);
}

TEST_P(SealerContract, EveryChangeIsNoticed) {
    const std::string key = sealer().make().value();
    const std::string sealed = sealer().seal(key, "here", "secret").value();
    for (std::size_t at = 0; at < sealed.size(); ++at) {
        std::string changed = sealed;
        changed[at] = changed[at] == '0' ? '1' : '0';
        EXPECT_EQ(sealer().open(key, "here", changed).error().code, Code::unauthenticated) << at;
        EXPECT_EQ(sealer().open(key, "here", sealed.substr(0, at)).error().code, Code::unauthenticated) << at;
    }
    EXPECT_EQ(sealer().open(key, "here", sealed + "0").error().code, Code::unauthenticated);
    EXPECT_EQ(sealer().open(key, "here", "no such thing!").error().code, Code::unauthenticated);
}

TEST_P(SealerContract, TheRingOutlivesWhoeverReadsIt) {
    EXPECT_TRUE(sealer().keys().empty());
    const std::string first = sealer().make().value(), second = sealer().make().value();
    const std::string sealed = sealer().seal(first, "here", "secret").value();
    rig_->reopen();
    EXPECT_EQ(sealer().keys(), (std::vector<std::string>{first, second})) << "the oldest first";
    EXPECT_EQ(sealer().open(first, "here", sealed).value(), "secret");
    ASSERT_TRUE(sealer().forget(first));
    ASSERT_TRUE(sealer().forget(first)) << "it is out";
    EXPECT_EQ(sealer().open(first, "here", sealed).error().code, Code::not_found);
    ASSERT_TRUE(sealer().read());
    rig_->reopen();
    EXPECT_EQ(sealer().keys(), std::vector<std::string>{second});
}

TEST_P(SealerContract, ThereIsABoundOfKeys) {
    for (std::size_t i = 0; i < Sealer::keys_max; ++i) ASSERT_TRUE(sealer().make());
    EXPECT_EQ(sealer().make().error().code, Code::exhausted);
    auto keys = sealer().keys();
    std::ranges::sort(keys);
    EXPECT_TRUE(std::ranges::adjacent_find(keys) == keys.end());
    ASSERT_TRUE(sealer().forget(keys.front()));
    EXPECT_TRUE(sealer().make());
}

}  // namespace hostler::contract
