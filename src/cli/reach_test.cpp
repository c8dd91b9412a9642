// Which API is asked, how long, and what is believed.
#include "cli/client.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CliTest, SaysWhenNobodyAnswers) {
    api.down = true;
    EXPECT_EQ(run({"zone", "list"}), 8);
    EXPECT_EQ(err, "hostler: the API at api.test:8080 cannot be reached: connection refused\n");
    EXPECT_EQ(out, "");
}

// ── Several masters

TEST_F(CliTest, AsksTheNextAddressWhenOneIsNotThere) {
    env["HOSTLER_API"] = "http://one:1,http://two:2";
    api.absent = {"one:1"};
    api.canned["GET /v1/zones?limit=1000"] = {200, {}, R"({"items":[]})"};
    EXPECT_EQ(run({"zone", "list"}), 0);
    EXPECT_THAT(api.dialled, ElementsAre("one:1", "two:2"));
}

TEST_F(CliTest, OneOfSeveralThatHangsHoldsNobodyUp) {
    env["HOSTLER_API"] = "http://one:1,http://two:2";
    api.hung = {"one:1"};
    api.canned["GET /v1/zones?limit=1000"] = {200, {}, R"({"items":[]})"};
    start({"zone", "list"});
    EXPECT_EQ(api.dialled_within, 3s);
    timers.advance(20s - 1ms);
    EXPECT_FALSE(code);
    timers.advance(1ms);
    EXPECT_EQ(code, 0) << err;
    EXPECT_THAT(api.dialled, ElementsAre("one:1", "two:2"));
    env["HOSTLER_API"] = "http://one:1";
    start({"zone", "list"});
    EXPECT_GT(api.dialled_within, 3s);
    timers.advance(21s);
    EXPECT_FALSE(code) << "there is none but this to wait for";
}

TEST_F(CliTest, GivesUpWhenNoneOfThemAnswersForLong) {
    env["HOSTLER_API"] = "http://one:1,http://two:2";
    api.down = true;
    start({"zone", "list"});
    timers.advance(10s);
    EXPECT_FALSE(code) << "another may begin to lead";
    timers.advance(5s);
    EXPECT_EQ(code, 8);
    api.dialled.clear();
    start({"instance", "delete", "i", "--yes", "--wait", "--timeout", "2s"});
    timers.advance(2s);
    EXPECT_EQ(code, 8);
}

TEST_F(CliTest, AsksAgainWhenToldToAndDoesNothingTwice) {
    api.canned["POST /v1/zones"] = {503,
                                    {{"Retry-After", "1"}},
                                    R"({"status":503,"code":"no_leader","title":"t","detail":"none leads"})"};
    start({"zone", "create", "nj"});
    timers.advance(500ms);
    EXPECT_FALSE(code);
    api.canned["POST /v1/zones"] = {201, {}, R"({"name":"nj","place":""})"};
    timers.advance(100ms);
    EXPECT_EQ(code, 0) << err;
    EXPECT_GE(api.idempotency_keys.size(), 3u);
    const std::set<std::string> keys{api.idempotency_keys.begin(), api.idempotency_keys.end()};
    ASSERT_EQ(keys.size(), 1u);
    EXPECT_THAT(*keys.begin(), StartsWith("cli-"));
    ASSERT_EQ(run({"zone", "create", "nj"}), 0);
    EXPECT_NE(api.idempotency_keys.back(), *keys.begin());
}

TEST_F(CliTest, SaysWhenSomebodyElseAnswers) {
    api.canned["GET /v1/whoami"] = {404, {{"Content-Type", "text/html"}}, "<html>"};
    EXPECT_EQ(run({"whoami"}), 1);
    EXPECT_THAT(err, HasSubstr("is the address right?"));
    api.canned["GET /v1/whoami"] = {200, {}, "hello"};
    EXPECT_EQ(run({"whoami"}), 1);
}

TEST(EventReader, TakesEventsInAnyPieces) {
    const std::string stream =
        ":\n\nid: 7\nevent: added\ndata: {\"a\":1}\n\nid: 8\nevent: synced\ndata: {}\n\n:\nid: 9\n\nid: "
        "9\nev";
    for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
        EventReader reader;
        std::vector<std::string> seen;
        for (std::size_t at = 0; at < stream.size(); at += piece)
            for (const auto& event : *reader.take(std::string_view(stream).substr(at, piece)))
                seen.push_back(event.id + event.name + event.data);
        EXPECT_THAT(seen, ElementsAre("7added{\"a\":1}", "8synced{}", "9"))
            << "the last says how far it has come";
    }
}

}  // namespace
}  // namespace hostler::cli
