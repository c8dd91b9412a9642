// Rules of people: one-time codes, recovery codes, logins and passwords.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/tenancy/credentials.h"
#include "domain/tenancy/recovery.h"
#include "domain/tenancy/sha1.h"
#include "domain/tenancy/totp.h"

namespace hostler {
namespace {

std::string hex(const Sha1& hash) {
    std::string text;
    for (const auto byte : hash) text += fmt::format("{:02x}", byte);
    return text;
}

TEST(Sha1Digest, VectorsOfFips180) {
    EXPECT_EQ(hex(sha1("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    EXPECT_EQ(hex(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(hex(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    EXPECT_EQ(hex(sha1(std::string(1'000'000, 'a'))), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(Sha1Digest, VectorsOfRfc2202) {
    EXPECT_EQ(hex(hmac_sha1(std::string(20, '\x0b'), "Hi There")),
              "b617318655057264e28bc0b6fb378c8ef146be00");
    EXPECT_EQ(hex(hmac_sha1("Jefe", "what do ya want for nothing?")),
              "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
    EXPECT_EQ(
        hex(hmac_sha1(std::string(80, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
        "aa4ae5e15272d00e95705637ce8a3b55ed402112");
}

constexpr std::string_view rfc_secret = "12345678901234567890";

// Its codes have eight digits; ours are the last six.
TEST(Totp, VectorsOfRfc6238) {
    const std::pair<std::int64_t, std::string_view> vectors[] = {
        {59, "287082"},         {1111111109, "081804"}, {1111111111, "050471"},
        {1234567890, "005924"}, {2000000000, "279037"}, {20000000000, "353130"},
    };
    for (const auto& [time, code] : vectors) EXPECT_EQ(totp_code(rfc_secret, time / 30), code) << time;
}

TEST(Totp, TakesAClockOneStepOffAndNoMore) {
    const std::int64_t now = 1'000'000'000, step = now / 30;
    for (std::int64_t off = -3; off <= 3; ++off) {
        const auto found = totp_match(rfc_secret, totp_code(rfc_secret, step + off), now, 0);
        if (off >= -1 && off <= 1)
            EXPECT_EQ(found, step + off);
        else
            EXPECT_EQ(found, std::nullopt) << off;
    }
}

TEST(Totp, TakesNoStepTwice) {
    const std::int64_t now = 1'000'000'000, step = now / 30;
    const std::string code = totp_code(rfc_secret, step);
    EXPECT_EQ(totp_match(rfc_secret, code, now, step - 1), step);
    EXPECT_EQ(totp_match(rfc_secret, code, now, step), std::nullopt);
    EXPECT_EQ(totp_match(rfc_secret, code, now, step + 1), std::nullopt);
    EXPECT_EQ(totp_match(rfc_secret, totp_code(rfc_secret, step + 1), now, step), step + 1);
}

TEST(Totp, RefusesWhatIsNoCode) {
    for (const char* code : {"", "12345", "1234567", "abcdef", "      "})
        EXPECT_EQ(totp_match(rfc_secret, code, 1'000'000'000, 0), std::nullopt) << code;
    EXPECT_EQ(totp_match("", totp_code("", 1'000'000'000 / 30), 1'000'000'000, 0), std::nullopt);
}

TEST(Totp, Base32OfRfc4648) {
    const std::pair<std::string_view, std::string_view> vectors[] = {
        {"", ""},         {"f", "MY"},         {"fo", "MZXQ"},
        {"foo", "MZXW6"}, {"foob", "MZXW6YQ"}, {"foobar", "MZXW6YTBOI"}};
    for (const auto& [bytes, text] : vectors) {
        EXPECT_EQ(base32(bytes), text);
        EXPECT_EQ(base32_bytes(text), bytes);
    }
    EXPECT_EQ(base32_bytes("mzxw6"), "foo");
    EXPECT_EQ(base32_bytes("M0"), std::nullopt);
    EXPECT_EQ(base32(rfc_secret), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
}

TEST(RecoveryCodes, AreReadAsTheyAreShown) {
    const std::string shown = shown_recovery_code("abcdefgh23456789");
    EXPECT_EQ(shown, "abcd-efgh-2345-6789");
    EXPECT_EQ(recovery_code_letters(shown), "abcdefgh23456789");
    EXPECT_EQ(recovery_code_letters(" ABCD EFGH 2345 6789 "), "abcdefgh23456789");
    for (const char* wrong :
         {"", "123456", "abcd-efgh-2345-678", "abcd-efgh-2345-67899", "abcd-efgh-2345-678é"})
        EXPECT_EQ(recovery_code_letters(wrong), std::nullopt) << wrong;
}

TEST(Logins, AreComparedInLowerCase) {
    EXPECT_EQ(plain_login("Ann.B@Example.COM"), "ann.b@example.com");
    for (const char* good : {"a", "ann", "ann@example.com", "ann+gpu@example.com", "Ann_1"})
        EXPECT_EQ(wrong_login(good), "") << good;
    for (const std::string& bad :
         {std::string{}, std::string{"@ann"}, std::string{"ann@"}, std::string{"a@b@c"}, std::string{"a b"},
          std::string{"ann\n"}, std::string{"änn"}, std::string{"a/b"}, std::string(129, 'a')})
        EXPECT_NE(wrong_login(bad), "") << bad;
}

TEST(Logins, AnEmailHasOneAtSign) {
    EXPECT_EQ(wrong_email("ann@example.com"), "");
    for (const char* bad : {"", "ann", "@example.com", "ann@", "a@b@c", "a b@c", "a@b\r\nBcc: d@e"})
        EXPECT_NE(wrong_email(bad), "") << bad;
}

TEST(PasswordRules, LengthAndNotTheLogin) {
    EXPECT_EQ(wrong_password("correct horse", "ann"), "");
    EXPECT_NE(wrong_password(std::string(9, 'x'), "ann"), "");
    EXPECT_EQ(wrong_password(std::string(10, 'x'), "ann"), "");
    EXPECT_EQ(wrong_password(std::string(256, 'x'), "ann"), "");
    EXPECT_NE(wrong_password(std::string(257, 'x'), "ann"), "");
    EXPECT_EQ(wrong_password("Ann@Example.com", "ann@example.com"), "must not be the login");
    EXPECT_THAT(wrong_password("hunter2", "ann"), ::testing::Not(::testing::HasSubstr("hunter2")));
}

}  // namespace
}  // namespace hostler
