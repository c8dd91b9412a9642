#include "adapters/net/web_issuer.h"

#include <gmock/gmock.h>

#include "adapters/net/certificate.h"
#include "adapters/net/net.h"

namespace hostler::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct WebIssuerTest : ::testing::Test {
    const WallTime now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const ServerNames names{{"localhost", "hostler.localhost", "*.hostler.localhost"}, {"127.0.0.1", "::1"}};
    std::unique_ptr<Random> random = make_random();
    const WebPair authority = *new_web_authority(names, *random, now);
    const WebPair pair = *issue_web(authority, names, *random, now, 24h * 90);
    bool good(const WebPair& shown, const ServerNames& of, Duration later = 0h) const {
        return is_good_web(shown, authority.certificate, of,
                           now + std::chrono::duration_cast<std::chrono::microseconds>(later));
    }
};

TEST_F(WebIssuerTest, ServersHaveTheNamesThatWereAskedFor) {
    EXPECT_TRUE(good(pair, names));
    EXPECT_TRUE(good(pair, {{"x.hostler.localhost"}, {"::1"}}));
    EXPECT_FALSE(good(pair, {{"api.example"}, {"::1"}}));
    EXPECT_FALSE(good(pair, {{"localhost"}, {"10.0.0.1"}}));
    EXPECT_TRUE(good(pair, names, 24h * 89));
    EXPECT_FALSE(good(pair, names, 24h * 91));
    EXPECT_FALSE(good({pair.certificate, authority.key}, names));
    EXPECT_FALSE(good({"", ""}, names));
    EXPECT_FALSE(is_good_web(pair, new_web_authority(names, *random, now)->certificate, names, now));
}

// Who has it among the authorities of a browser risks no other name by it.
TEST_F(WebIssuerTest, TheAuthorityVouchesForItsOwnNamesAlone) {
    for (const ServerNames& others :
         {ServerNames{{"bank.example"}, {"127.0.0.1"}}, ServerNames{{"localhost"}, {"10.0.0.1"}}}) {
        const auto issued = issue_web(authority, others, *random, now, 24h);
        ASSERT_TRUE(issued);
        EXPECT_FALSE(good(*issued, others));
    }
    const ServerNames below{{"a.localhost"}, {"127.0.0.1"}};
    EXPECT_TRUE(good(*issue_web(authority, below, *random, now, 24h), below));
}

TEST_F(WebIssuerTest, WhatIsNoNameIsRefused) {
    for (const ServerNames& wrong :
         {ServerNames{{"a b"}, {"::1"}}, ServerNames{{"a,permitted;DNS:b"}, {"::1"}},
          ServerNames{{"*"}, {"::1"}}, ServerNames{{"localhost"}, {"localhost"}}, ServerNames{{}, {"::1"}},
          ServerNames{{"localhost"}, {}}}) {
        EXPECT_EQ(new_web_authority(wrong, *random, now).error().code, Code::invalid);
        EXPECT_EQ(issue_web(authority, wrong, *random, now, 1h).error().code, Code::invalid);
    }
}

// This is why `up --tls` has another domain than localhost.
TEST_F(WebIssuerTest, AStarBelowATopLevelDomainIsTakenByNobody) {
    const ServerNames star{{"localhost", "*.localhost"}, {"127.0.0.1"}};
    const auto its = new_web_authority(star, *random, now);
    const auto issued = issue_web(*its, star, *random, now, 24h);
    ASSERT_TRUE(issued);
    EXPECT_FALSE(is_good_web(*issued, its->certificate, star, now));
}

}  // namespace
}  // namespace hostler::net
