// The first flow of the source: create stock.
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;

class Stock : public Shared {
protected:
    static json::object body(int number, const std::string& operation, const std::string& spec,
                             const std::string& memory = "1Gi") {
        return {{"number", number}, {"operationID", operation},    {"specName", spec}, {"cpu", "2"},
                {"memory", memory}, {"gpuType", "H100 SXM5 80GB"}, {"gpuNum", 1}};
    }
    void TearDown() override {
        for (const std::string spec : {"stock-a", "stock-b", "stock-c"})
            if (const Page page = cloud.stock(spec); page.status == 200 && page.at("/idle") != "0")
                cloud.api("DELETE", "/stocks",
                          {{"number", std::stoi(page.at("/idle"))}, {"operationID", ""}, {"specName", spec}});
    }
};

TEST_F(Stock, IsCreatedShownAndHoldsGpus) {
    const int free = cloud.gpus_free();
    const Page made = cloud.api("POST", "/stocks", body(3, "stock-a-1", "stock-a"));
    EXPECT_EQ(made.status, 200);
    EXPECT_EQ(made.body, "{}");
    const Page shown = cloud.stock("stock-a");
    EXPECT_EQ(shown.at("/idle"), "3");
    EXPECT_EQ(shown.at("/wanted"), "3");
    EXPECT_EQ(shown.at("/zones/0/idle") == "2" ? shown.at("/zones/1/idle") : "2",
              shown.at("/zones/0/idle") == "2" ? "1" : "2")
        << "spread over zones";
    EXPECT_EQ(cloud.gpus_free(), free - 3);
    EXPECT_THAT(cloud.api("GET", "/v1/stocks").body, HasSubstr("stock-a"));
    EXPECT_EQ(cloud.api("GET", "/v1/specs/stock-a").at("/memory"), "1Gi");

    // Sent again it gets the first answer, and nothing more is made; another body is a mistake.
    EXPECT_EQ(cloud.api("POST", "/stocks", body(3, "stock-a-1", "stock-a")).status, 200);
    EXPECT_EQ(cloud.stock("stock-a").at("/idle"), "3");
    const Page other = cloud.api("POST", "/stocks", body(2, "stock-a-1", "stock-a"));
    EXPECT_EQ(other.status, 409) << other.body;
    EXPECT_EQ(cloud.stock("stock-a").at("/idle"), "3");
}

TEST_F(Stock, OtherValuesForAKnownSpecAreRefusedByName) {
    ASSERT_EQ(cloud.api("POST", "/stocks", body(1, "stock-b-1", "stock-b")).status, 200);
    const Page refused = cloud.api("POST", "/stocks", body(1, "stock-b-2", "stock-b", "2Gi"));
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.at("/errors/0/field"), "memory") << refused.body;
    EXPECT_EQ(cloud.stock("stock-b").at("/idle"), "1");
    // The same amount written in another way is the same.
    EXPECT_EQ(cloud.api("POST", "/stocks", body(1, "stock-b-3", "stock-b", "1024Mi")).status, 200);
    EXPECT_EQ(cloud.stock("stock-b").at("/idle"), "2");
}

TEST_F(Stock, MoreThanFitsLeavesNothingBehind) {
    const int free = cloud.gpus_free();
    const Page refused = cloud.api("POST", "/stocks", body(free + 1, "stock-c-1", "stock-c"));
    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.at("/detail"), HasSubstr(fmt::format("{} of {}", free, free + 1)));
    EXPECT_FALSE(refused.at("/help").empty()) << refused.body;
    EXPECT_EQ(cloud.gpus_free(), free);
    EXPECT_EQ(cloud.stock("stock-c").status, 404);
}

TEST_F(Stock, IsTakenAwayByBodyOrQuery) {
    const int free = cloud.gpus_free();
    ASSERT_EQ(cloud.api("POST", "/stocks", body(3, "stock-c-2", "stock-c")).status, 200);
    const Page too_many = cloud.api("DELETE", "/stocks",
                                    {{"number", 4}, {"operationID", "stock-c-3"}, {"specName", "stock-c"}});
    EXPECT_EQ(too_many.status, 409) << too_many.body;
    EXPECT_EQ(cloud.stock("stock-c").at("/idle"), "3");
    const Page by_body = cloud.api("DELETE", "/stocks",
                                   {{"number", 2}, {"operationID", "stock-c-4"}, {"specName", "stock-c"}});
    EXPECT_EQ(by_body.status, 200);
    EXPECT_EQ(by_body.body, "{}");
    EXPECT_EQ(cloud.stock("stock-c").at("/idle"), "1");
    EXPECT_EQ(cloud.api("DELETE", "/stocks?number=1&operationID=stock-c-5&specName=stock-c").status, 200);
    EXPECT_EQ(cloud.stock("stock-c").at("/idle"), "0");
    EXPECT_EQ(cloud.gpus_free(), free);
}

}  // namespace
}  // namespace hostler::cloud
