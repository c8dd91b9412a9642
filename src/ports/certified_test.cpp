#include "ports/certified.h"

#include <gtest/gtest.h>

#include "core/testing/run.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;

// Certificates are "role/id key from until", in hours.
class WordKeys : public Keys {
public:
    Result<KeyRequest> make(Identity) override { return fail(Code::internal, "not asked for here"); }
    Result<KeyRequest> renew(std::string key, Identity identity) override {
        return KeyRequest{key, "please " + key + " for " + identity.text()};
    }
    Result<CertificateFacts> read(std::string text) const override {
        char role[32], key[32];
        int from = 0, until = 0;
        if (std::sscanf(text.c_str(), "%31[a-z]/x %31s %d %d", role, key, &from, &until) != 4)
            return fail(Code::invalid, "not a certificate");
        return CertificateFacts{.identity = {role, "x"},
                                .serial = {},
                                .fingerprint = {},
                                .key_fingerprint = key,
                                .not_before = WallTime{std::chrono::hours{from}},
                                .not_after = WallTime{std::chrono::hours{until}}};
    }
    Result<std::vector<std::string>> fingerprints(std::string text) const override {
        if (!text.starts_with("CA")) return fail(Code::invalid, "not an authority");
        return std::vector{text};
    }
};

struct OfARole : ::testing::Test {
    static WallTime at(int hour) { return WallTime{std::chrono::hours{hour}}; }
    Result<> renewed(const std::string& certificate, const std::string& authority = {}) {
        return testing::run(loop, own.renewed(certificate, authority));
    }
    Loop loop;
    WordKeys keys;
    std::string kept, believed;
    bool disk_is_full = false;
    Certified own{std::make_shared<Credentials>(Credentials{"access/x k 0 30", "k", "CA"}), keys,
                  [this](std::string text, std::string authority) {
                      return keep(std::move(text), std::move(authority));
                  }};
    Task<> keep(std::string text, std::string authority) {
        if (disk_is_full) co_return fail(Code::unavailable, "the disk is full");
        kept = std::move(text);
        believed = std::move(authority);
        co_return Result<>{};
    }
};

TEST_F(OfARole, IsDueAtAThirdAndExpiresAtItsEnd) {
    EXPECT_FALSE(own.due(at(9)));
    EXPECT_TRUE(own.due(at(10)));
    EXPECT_FALSE(own.expired(at(29)));
    EXPECT_TRUE(own.expired(at(30)));
    EXPECT_EQ(own.request().value(), "please k for access/x");
}

TEST_F(OfARole, TheNextConnectionUsesTheNewOneAndPresentOnesKeepTheirs) {
    const auto before = own.credentials();
    ASSERT_TRUE(renewed("access/x k 10 40"));
    EXPECT_EQ(before->certificate, "access/x k 0 30");
    EXPECT_EQ(own.credentials()->certificate, "access/x k 10 40");
    EXPECT_EQ(own.credentials()->key, "k");
    EXPECT_EQ(own.credentials()->authority, "CA");
    EXPECT_EQ(kept, "access/x k 10 40");
    EXPECT_FALSE(own.due(at(19)));
    EXPECT_TRUE(own.due(at(20)));
}

TEST_F(OfARole, WhomToBelieveComesWithIt) {
    ASSERT_TRUE(renewed("access/x k 0 30", "CA CA-2")) << "also when nothing else is new";
    EXPECT_EQ(own.credentials()->authority, "CA CA-2");
    EXPECT_EQ(believed, "CA CA-2");
    EXPECT_EQ(renewed("access/x k 10 40", "rubbish").error().code, Code::invalid);
    EXPECT_EQ(own.credentials()->certificate, "access/x k 0 30");
    ASSERT_TRUE(renewed("access/x k 10 40"));
    EXPECT_EQ(own.credentials()->authority, "CA CA-2") << "who says nothing of it changes nothing";
    EXPECT_EQ(believed, "CA CA-2");
}

TEST_F(OfARole, NothingButItsOwnIsTaken) {
    for (const char* other :
         {"master/x k 10 40", "access/x other 10 40", "access/x k 0 30", "access/x k 0 29", "rubbish"})
        EXPECT_FALSE(renewed(other)) << other;
    EXPECT_EQ(kept, "");
    disk_is_full = true;
    EXPECT_EQ(renewed("access/x k 10 40").error().code, Code::unavailable);
    EXPECT_EQ(own.credentials()->certificate, "access/x k 0 30") << "what was not kept would be lost";
    disk_is_full = false;
    EXPECT_TRUE(renewed("access/x k 10 40"));
}

}  // namespace
}  // namespace hostler
