#include "http/transport_security.h"

#include <gtest/gtest.h>

namespace hostler::http {
namespace {

TEST(TransportSecurity, IsForSomeTimeAndNeverForLocalhost) {
    EXPECT_EQ(transport_security(std::chrono::hours{1}), "max-age=3600");
    EXPECT_EQ(transport_security(std::chrono::seconds{0}), "");
    for (const char* host :
         {"api.example", "api.example:8443", "localhost.example", "notlocalhost", "[::1]:80"})
        EXPECT_TRUE(may_keep_to_https(host)) << host;
    for (const char* host : {"localhost", "localhost:8443", "LOCALHOST", "8080-i-1.localhost:1",
                             "a.b.LocalHost.", "localhost.:80"})
        EXPECT_FALSE(may_keep_to_https(host)) << host;
}

}  // namespace
}  // namespace hostler::http
