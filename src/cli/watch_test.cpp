#include "cli/watch.h"

#include "api/operations_watch.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct WatchCommand : CliTest {
    WatchCommand() {
        api.handlers.stream<api::ops::watch_changes>(
            [this](api::Call call, api::WatchChanges request, api::Stream<api::ObjectChange>& to) -> Task<> {
                resumed.push_back(call.last_event_id);
                kinds = request.kinds.value_or("");
                if (refusal) co_return std::unexpected(*refusal);
                if (resumed.size() == 2 && lost) to.add("reset", "8-0");
                to.add("synced", "7-1");
                CO_TRY(co_await to.flush());
                if (resumed.size() > 2) co_return std::unexpected(Error{Code::forbidden, "no"});
                to.add("change", fmt::format("7-{}", 1 + resumed.size()),
                       {.kind = "volume",
                        .id = "v-1",
                        .name = "data",
                        .tenant_id = "acme",
                        .project = "lab",
                        .change = api::ChangeMade::added});
                co_return co_await to.flush();
            });
    }
    std::vector<std::string> resumed;
    std::string kinds;
    bool lost = false;
    std::optional<Error> refusal;
};

TEST_F(WatchCommand, PrintsALineForEachChange) {
    start({"watch", "--kinds", "volume,host"});
    EXPECT_EQ(kinds, "volume,host");
    EXPECT_THAT(out, HasSubstr("KIND"));
    EXPECT_THAT(out, HasSubstr("v-1"));
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2) << out;
}

TEST_F(WatchCommand, PrintsLinesOfJson) {
    start({"watch", "-o", "json"});
    EXPECT_THAT(out, ::testing::StartsWith(R"({"event":"change","item":{"kind":"volume","id":"v-1",)"));
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << out;
    EXPECT_EQ(run({"watch", "-o", "csv"}), 2);
}

TEST_F(WatchCommand, ContinuesWhereItWasCut) {
    lost = true;
    start({"watch"});
    timers.advance(600ms);
    EXPECT_THAT(resumed, ElementsAre("", "7-2"));
    EXPECT_THAT(err, HasSubstr("no longer kept"));
}

TEST_F(WatchCommand, SaysWhyItIsRefused) {
    refusal = Error{Code::exhausted, "64 watch already", "too_many_watches"};
    start({"watch", "--kinds", "x"});
    timers.advance(std::chrono::hours{1});
    EXPECT_EQ(code, 6);
    EXPECT_THAT(err, HasSubstr("64 watch already"));
}

}  // namespace
}  // namespace hostler::cli
