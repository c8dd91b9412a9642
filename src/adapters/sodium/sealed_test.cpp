#include "adapters/sodium/sealed.h"

#include <gtest/gtest.h>

namespace hostler::sodium {
namespace {

constexpr Cost cheap{.passes = 1, .memory_bytes = 8192};
const std::string phrase = "correct horse";

TEST(Sealed, OpensWithItsPassphraseAlone) {
    const std::string sealed = seal("the keys", phrase, cheap).value();
    EXPECT_FALSE(sealed.contains("keys"));
    EXPECT_EQ(unseal(sealed, phrase).value(), "the keys");
    EXPECT_EQ(unseal(sealed, "correct hors").error().code, Code::unauthenticated);
    EXPECT_EQ(unseal(sealed, "").error().code, Code::unauthenticated);
    EXPECT_NE(seal("the keys", phrase, cheap).value(), sealed) << "a salt and a nonce of its own each time";
    EXPECT_EQ(unseal(seal("", phrase, cheap).value(), phrase).value(), "");
}

TEST(Sealed, EveryChangeShows) {
    const std::string sealed = seal("the keys", phrase, cheap).value();
    for (std::size_t at = 0; at < sealed.size(); ++at) {
        if (at >= 17 && at < 33) continue;  // The cost: below.
        std::string changed = sealed;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        EXPECT_FALSE(unseal(changed, phrase)) << at;
    }
    std::string other_cost = sealed;
    other_cost[24] = 2;
    EXPECT_EQ(unseal(other_cost, phrase).error().code, Code::unauthenticated);
    for (std::size_t size = 0; size < sealed.size(); ++size)
        EXPECT_FALSE(unseal(std::string_view{sealed}.substr(0, size), phrase)) << size;
    EXPECT_FALSE(unseal(sealed + "x", phrase));
}

TEST(Sealed, WhatIsNotSuchAFileIsRefusedBeforeItCostsAnything) {
    std::string sealed = seal("the keys", phrase, cheap).value();
    EXPECT_EQ(unseal("no such file", phrase).error().code, Code::invalid);
    EXPECT_EQ(unseal("HOSTLER SEALED 2\n" + sealed.substr(17), phrase).error().code, Code::invalid);
    for (const std::size_t at : {17U, 25U}) {  // More passes, or more memory, than there is time or room for.
        std::string dear = sealed;
        dear[at] = 0x40;
        EXPECT_EQ(unseal(dear, phrase).error().code, Code::invalid);
    }
    std::string free = sealed;
    free[24] = 0;
    EXPECT_EQ(unseal(free, phrase).error().code, Code::invalid);
}

TEST(Sealed, APassphraseHasALength) {
    EXPECT_EQ(seal("the keys", "short", cheap).error().code, Code::invalid);
    EXPECT_EQ(seal(std::string(plain_size_max + 1, 'x'), phrase, cheap).error().code, Code::invalid);
}

}  // namespace
}  // namespace hostler::sodium
