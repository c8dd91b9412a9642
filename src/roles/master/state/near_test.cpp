#include "roles/master/state/near.h"

#include <gmock/gmock.h>

#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using NearTest = testing::ApiRig;

TEST(Near, OnlyWhatIsNearIsNamed) {
    EXPECT_EQ(no_such("zone", "lonn", {"lon", "nj"}), "there is no zone lonn; did you mean lon?");
    EXPECT_EQ(no_such("zone", "tokyo", {"lon", "nj"}), "there is no zone tokyo");
    EXPECT_EQ(no_such("zone", "x", {}), "there is no zone x");
}

TEST_F(NearTest, WrongNamesAreAnsweredWithThoseThatAreMeant) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("notebook")).status, 200);
    ASSERT_LT(call("acme", "POST", "/v1/volumes", R"({"name":"models","size":"1Gi"})").status, 300);
    const auto said = [&](const api::Reply& reply) { return reply.body; };
    EXPECT_THAT(said(call("acme", "GET", "/v1/instances/notbook")), HasSubstr("did you mean notebook?"));
    EXPECT_THAT(said(call("acme", "GET", "/v1/volumes/model")), HasSubstr("did you mean models?"));
    EXPECT_THAT(said(call("acme", "GET", "/v1/specs/smal")), HasSubstr("did you mean small?"));
    EXPECT_THAT(said(call("acme", "GET", "/v1/zones/n")), HasSubstr("there is no zone n; did you mean nj?"));
    EXPECT_THAT(said(call("acme", "POST", "/v1/volumes", R"({"name":"x","size":"1Gi","zone":"njj"})")),
                HasSubstr("did you mean nj?"));
    const std::string wrong =
        R"({"instanceID":"two","tenantID":"acme","image":"i","specName":"smalll","storageID":"modles","tenantName":"","template":{}})";
    const std::string refused = said(call("acme", "POST", "/gpu-instances?zone=nk", wrong));
    EXPECT_THAT(refused, HasSubstr("there is no spec smalll; did you mean small?"));
    EXPECT_THAT(refused, HasSubstr("there is no volume modles; did you mean models?"));
    EXPECT_THAT(refused, HasSubstr("there is no zone nk; did you mean nj?"));
    EXPECT_THAT(said(call("globex", "GET", "/v1/instances/notbook")), Not(HasSubstr("notebook")))
        << "another tenant's names are told to nobody";
    EXPECT_THAT(said(call("globex", "GET", "/v1/volumes/model")), Not(HasSubstr("models")));
}

}  // namespace
}  // namespace hostler::master
