// Lists of instances from memory come in both orders; those that the store answers, in one.
#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

using testing::ApiRig;

struct ListOrder : ApiRig {
    ListOrder() {
        HOSTLER_ASSERT(call("", "POST", "/stocks", stocks(3)).status == 200);
        for (const char* name : {"one-0", "one-1", "one-2"})
            HOSTLER_ASSERT(call("acme", "POST", "/gpu-instances", start(name)).status == 200);
    }
    boost::json::value list(const std::string& query, const std::string& tenant = "acme") {
        const api::Reply reply = call(tenant, "GET", "/v1/instances" + query);
        EXPECT_EQ(reply.status, 200) << reply.body;
        return boost::json::parse(reply.body);
    }
    static std::string names(const boost::json::value& page) {
        std::string all;
        for (const auto& item : page.at("items").as_array())
            all += std::string{item.at("instanceID").as_string()} + " ";
        return all;
    }
};

TEST_F(ListOrder, TheNewestFirstInPages) {
    EXPECT_EQ(names(list("?order=created")), "one-0 one-1 one-2 ");
    const auto first = list("?order=-created&limit=2&total=true");
    EXPECT_EQ(names(first), "one-2 one-1 ");
    EXPECT_EQ(first.at("total").as_int64(), 3);
    const std::string cursor{first.at("nextCursor").as_string()};
    const auto last = list("?order=-created&limit=2&cursor=" + cursor);
    EXPECT_EQ(names(last), "one-0 ");
    EXPECT_FALSE(last.as_object().contains("nextCursor"));
    EXPECT_FALSE(last.as_object().contains("total")) << "it was not asked";
    EXPECT_EQ(call("acme", "GET", "/v1/instances?limit=2&cursor=" + cursor).status, 400);
}

TEST_F(ListOrder, TheTotalIsOfWhatTheCallerSees) {
    EXPECT_EQ(list("?total=true", "globex").at("total").as_int64(), 0);
    EXPECT_EQ(list("?total=true&limit=1", "").at("total").as_int64(), 3);
    EXPECT_EQ(list("?total=true&instance=one-1").at("total").as_int64(), 1);
}

TEST_F(ListOrder, EndedOnesComeInOneOrder) {
    const api::Reply refused = call("acme", "GET", "/v1/instances?all=true&order=-created&total=true");
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(boost::json::parse(refused.body).at("errors").as_array().size(), 2u);
    EXPECT_EQ(names(list("?all=true&order=created")), "one-0 one-1 one-2 ");
}

}  // namespace
}  // namespace hostler::master
