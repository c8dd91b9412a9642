// The plan in the answer to a start, dry or not.
#include <gtest/gtest.h>

#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;

struct StartPlans : testing::ApiRig {
    json::object plan(const std::string& tenant, const std::string& query, const std::string& body) {
        const api::Reply reply = call(tenant, "POST", "/gpu-instances" + query, body);
        EXPECT_EQ(reply.status, 200) << reply.body;
        const json::value answer = json::parse(reply.body);
        const json::value* found = answer.as_object().if_contains("plan");
        EXPECT_TRUE(found) << reply.body;
        return found ? found->as_object() : json::object{};
    }
};

TEST_F(StartPlans, ADryRunSaysWhereItWouldGoAndWhatItCosts) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    ASSERT_EQ(call("", "PUT", "/v1/prices", R"({"gpuType":"H100","amount":"2.49","currency":"USD"})").status,
              200);
    std::string wanted = start("one");
    wanted.insert(wanted.size() - 1, R"(,"inactivityTimeoutSeconds":1800)");
    const json::object would = plan("acme", "?dryRun=true", wanted);
    EXPECT_EQ(would.at("zone"), "nj");
    EXPECT_EQ(would.at("fromStock"), true);
    EXPECT_EQ(would.at("gpu").at("pricePerHour"), "2.49");
    EXPECT_EQ(would.at("gpu").at("currency"), "USD");
    EXPECT_EQ(would.at("inactivityTimeoutSeconds"), 1800);
    EXPECT_EQ(would.at("maxRunSeconds"), 0);
    EXPECT_FALSE(would.contains("host")) << "a tenant's key sees no hosts";
    EXPECT_EQ(plan("", "?dryRun=true", wanted).at("host"), "h-a");
    EXPECT_TRUE(term().look().estate.instances.all().empty());

    EXPECT_EQ(call("acme", "POST", "/gpu-instances", wanted).body, "{}");
    EXPECT_EQ(term().look().estate.instances.all().begin()->second.host, "h-a") << "it does what it said";
    EXPECT_EQ(plan("acme", "?dryRun=true", start("two")).at("fromStock"), false) << "the slot is taken";
}

TEST_F(StartPlans, WithoutAPriceNoneIsTold) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    const json::object would = plan("acme", "?dryRun=true", start("one"));
    EXPECT_EQ(would.at("gpu").at("model"), "H100 SXM5 80GB");
    EXPECT_FALSE(would.at("gpu").as_object().contains("pricePerHour"));
}

TEST_F(StartPlans, ADryRunOfAStartWithoutRoomSaysWhyAndWhatWouldHelp) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    const api::Reply refused = call("acme", "POST", "/gpu-instances?dryRun=true&zone=lon", start("one"));
    EXPECT_EQ(refused.status, 409) << refused.body;
    const json::object problem = json::parse(refused.body).as_object();
    EXPECT_FALSE(problem.at("detail").as_string().empty());
    EXPECT_FALSE(problem.at("reasons").as_array().empty());
    EXPECT_FALSE(problem.at("help").as_string().empty());
}

}  // namespace
}  // namespace hostler::master
