// Jobs through the API.
#include <gmock/gmock.h>

#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;

struct JobsApi : testing::ApiRig {
    JobsApi() {
        desk().live.hosts["h-a"].keeps_leases = true;
        EXPECT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    }
    static std::string train(const std::string& project = "default") {
        return R"({"name":"train","tenantID":"acme","image":"demo:1","specName":"small","envs":[{"name":"A","value":"1"}],"project":")" +
               project + "\"}";
    }
    json::object got(const std::string& target) {
        const auto reply = call("acme", "GET", target);
        EXPECT_EQ(reply.status, 200) << reply.body;
        return json::parse(reply.body).as_object();
    }
};

TEST_F(JobsApi, AProjectTellsJobsOfOneNameApart) {
    ASSERT_EQ(call("", "POST", "/v1/jobs", train()).status, 201);
    EXPECT_EQ(got("/v1/jobs/train")["project"], "default");
    ASSERT_EQ(call("", "POST", "/v1/projects", R"({"name":"lab","tenantID":"acme"})").status, 201);
    ASSERT_EQ(call("", "POST", "/v1/jobs", train("lab")).status, 201);
    EXPECT_EQ(problem(call("acme", "GET", "/v1/jobs/train")), "ambiguous");
    EXPECT_EQ(got("/v1/jobs/train?project=lab")["project"], "lab");
    EXPECT_EQ(call("acme", "GET", "/v1/jobs/train/explain?project=lab").status, 200);
    EXPECT_EQ(problem(call("acme", "GET", "/v1/jobs/train?project=other")), "job_not_found");
    EXPECT_EQ(call("acme", "POST", "/v1/jobs/train/cancel", R"({"project":"lab"})").status, 200);
    EXPECT_EQ(got("/v1/jobs/train")["project"], "default") << "the other one is over";
}

TEST_F(JobsApi, ADryRunAnswersAPlanAndMakesNoJob) {
    const auto reply = call("acme", "POST", "/v1/jobs?dryRun=true", train());
    ASSERT_EQ(reply.status, 201) << reply.body;
    const json::object plan = json::parse(reply.body).at("plan").as_object();
    EXPECT_TRUE(plan.at("startsNow").as_bool());
    EXPECT_EQ(plan.at("zones").as_array().size(), 1u);
    EXPECT_FALSE(plan.contains("expectedStart"));
    EXPECT_TRUE(got("/v1/jobs")["items"].as_array().empty());
}

TEST_F(JobsApi, OneJobAnswersItsSubmissionAndAListDoesNot) {
    ASSERT_EQ(call("", "POST", "/v1/jobs", train()).status, 201);
    const json::object job = got("/v1/jobs/train");
    EXPECT_EQ(job.at("submission").at("envs").as_array().size(), 1u);
    EXPECT_FALSE(job.contains("plan"));
    EXPECT_FALSE(got("/v1/jobs")["items"].as_array().at(0).as_object().contains("submission"));
}

TEST_F(JobsApi, AQueueSaysWhatItIsEntitledToAndSinceWhenItWaits) {
    const std::string other = R"({"name":"train","tenantID":"globex","image":"demo:1","specName":"small"})";
    ASSERT_EQ(
        call("", "PUT", "/v1/queues", R"({"tenantID":"acme","weight":3,"guaranteed":{"gpus":2}})").status,
        200);
    ASSERT_EQ(call("", "POST", "/v1/jobs", train()).status, 201);
    ASSERT_EQ(call("", "POST", "/v1/jobs", other).status, 201);
    const auto reply = call("", "GET", "/v1/queues");
    ASSERT_EQ(reply.status, 200) << reply.body;
    const json::array all = json::parse(reply.body).at("items").as_array();
    ASSERT_EQ(all.size(), 6u) << "tenant, project and user of both";
    const json::object& acme = all[0].as_object();
    EXPECT_EQ(acme.at("entitledMilli"), 750) << "of weights 3 and 1";
    EXPECT_EQ(acme.at("guaranteedMilli"), 250) << "2 of 8 GPUs";
    EXPECT_EQ(acme.at("belowGuarantee"), true);
    EXPECT_EQ(acme.at("shareMilli"), 0);
    EXPECT_EQ(acme.at("rankMilli"), 0);
    EXPECT_EQ(acme.at("waitingElements"), 1);
    EXPECT_TRUE(acme.contains("waitsSince"));
    EXPECT_EQ(all[2].at("entitledMilli"), 750) << "the only user of the only project";
    EXPECT_EQ(all[3].at("tenantID"), "globex");
    EXPECT_EQ(all[3].at("entitledMilli"), 250);
    EXPECT_EQ(all[3].at("belowGuarantee"), false);
    EXPECT_EQ(got("/v1/queues")["items"].as_array().size(), 3u) << "a tenant sees its own";
    ASSERT_EQ(call("", "POST", "/v1/jobs/train/cancel", R"({"tenantID":"globex"})").status, 200);
    const json::object alone = got("/v1/queues")["items"].as_array()[0].as_object();
    EXPECT_EQ(alone.at("entitledMilli"), 1000) << "no other queue has jobs";
}

TEST_F(JobsApi, AnOperatorNamesTheTenant) {
    const auto reply = call("", "POST", "/v1/jobs", R"({"name":"x","image":"demo:1","specName":"small"})");
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(json::parse(reply.body).at("errors").as_array().size(), 1u) << reply.body;
}

}  // namespace
}  // namespace hostler::master
