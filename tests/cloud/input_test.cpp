// Bad input: every wrong field is named, and nothing is left behind.
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

class Input : public Shared {
protected:
    static std::vector<std::string> fields(const Page& page) {
        std::vector<std::string> named;
        const json::value value = page.json();
        if (const json::value* errors = value.is_object() ? value.as_object().if_contains("errors") : nullptr)
            for (const json::value& error : errors->as_array()) named.push_back(at(error, "/field"));
        return named;
    }
};

TEST_F(Input, EveryWrongFieldOfAnInstanceIsNamed) {
    json::object body = cloud.body_of({.id = "wrong-1"});
    body["template"].as_object()["ports"] = json::array{
        {{"port", 70000}, {"protocol", "TCP"}, {"isPublic", true}, {"isProbe", true}, {"baseUrl", ""}},
        {{"port", 53}, {"protocol", "UDP"}, {"isPublic", true}, {"isProbe", false}, {"baseUrl", ""}}};
    body["template"].as_object()["envs"] = json::array{{{"name", "NOT A NAME"}, {"value", "x"}}};
    body.erase("image");
    body["imgae"] = cloud.image;
    const Page refused = cloud.api("POST", "/gpu-instances", body);
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(fields(refused), IsSupersetOf({"template.ports[0].port", "template.ports[1].protocol",
                                               "template.envs[0].name", "image", "imgae"}))
        << refused.body;
    EXPECT_THAT(refused.body, HasSubstr("did you mean")) << refused.body;
    EXPECT_EQ(refused.header("Content-Type"), "application/problem+json");
    EXPECT_EQ(refused.at("/code"), "invalid");
    EXPECT_EQ(cloud.instance("wrong-1").status, 404);
    EXPECT_TRUE(cloud.containers(cloud.instance("wrong-1").at("/id")).size() <= cloud.containers().size());

    EXPECT_THAT(fields(cloud.begin({.id = "wrong-1", .spec = "nothing"})), Contains("specName"));
    EXPECT_THAT(fields(cloud.begin({.id = "wrong-1", .cmd = "sh -c 'open"})), Contains("template.cmd"));
    EXPECT_THAT(fields(cloud.begin({.id = "wrong-1", .storage = "nothing", .mount = "/data"})),
                Contains("storageID"));
    EXPECT_THAT(fields(cloud.begin({.id = "../../etc"})), Contains("instanceID"));
}

TEST_F(Input, EveryWrongFieldOfStockIsNamed) {
    const Page refused = cloud.api("POST", "/stocks",
                                   {{"number", 0},
                                    {"operationID", "wrong"},
                                    {"specName", "wrong"},
                                    {"cpu", "two"},
                                    {"memory", "32 gigabytes"},
                                    {"gpuType", "H100 SXM5 80GB"},
                                    {"gpuNum", 1000}});
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(fields(refused), IsSupersetOf({"number", "cpu", "memory", "gpuNum"})) << refused.body;
    const Page missing =
        cloud.api("POST", "/stocks", {{"number", 1}, {"operationID", "wrong-2"}, {"specName", "wrong"}});
    EXPECT_EQ(missing.status, 400);
    EXPECT_THAT(fields(missing), IsSupersetOf({"cpu", "memory", "gpuType", "gpuNum"})) << missing.body;
    EXPECT_EQ(cloud.api("GET", "/v1/specs/wrong").status, 404);
}

TEST_F(Input, WhatIsNoRequestIsRefused) {
    const http::Headers known{{"Authorization", "Bearer " + cloud.key}, {"Content-Type", "application/json"}};
    EXPECT_EQ(cloud.raw("POST", "/stocks", known, "{\"number\": 1,").status, 400);
    EXPECT_EQ(cloud.raw("POST", "/stocks", known, "[]").status, 400);
    EXPECT_EQ(cloud.raw("POST", "/stocks", known, std::string(1000, '[')).status, 400);
    EXPECT_EQ(cloud.raw("GET", "/v1/hosts", {}).status, 401);
    EXPECT_EQ(cloud.raw("GET", "/v1/hosts", {{"Authorization", "Bearer hk_wrong"}}).status, 401);
    EXPECT_EQ(cloud.raw("GET", "/v1/nonsense", known).status, 404);
    EXPECT_EQ(cloud.raw("PUT", "/stocks", known, "{}").status, 405);
    EXPECT_EQ(cloud.raw("POST", "/stocks", known, std::string(8 << 20, ' ')).status, 413);
    for (const std::string path : {"/v1/hosts?limit=0", "/v1/hosts?limit=x", "/v1/hosts?state=asleep"})
        EXPECT_EQ(cloud.raw("GET", path, known).status, 400) << path;
    EXPECT_EQ(cloud.api("GET", "/v1/hosts").status, 200) << "and it goes on";
}

}  // namespace
}  // namespace hostler::cloud
