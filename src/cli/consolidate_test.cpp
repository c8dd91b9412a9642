// `hostler consolidate`: a plan that is shown, and made when it is told to.
#include "api/operations_consolidation.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConsolidateTest : public CliTest {
protected:
    ConsolidateTest() {
        api.handlers.on<api::ops::create_consolidation>(
            [this](api::Call call, api::CreateConsolidation asked) -> Task<api::Consolidation> {
                if (!call.dry_run && refused) co_return std::unexpected(*refused);
                std::string moves;
                for (const api::WantedMove& move : asked.moves) moves += " " + move.workload + ">" + move.to;
                asks.push_back(fmt::format("{}zone={} max={}{}", call.dry_run ? "dry " : "",
                                           asked.zone.value_or(""), asked.max_moves, moves));
                api::Consolidation answer = plan;
                if (!call.dry_run) answer.id = "co-1";
                co_return answer;
            });
        api.handlers.on<api::ops::get_consolidation>(
            [this](api::Call, api::GetConsolidation) -> Task<api::Consolidation> {
                api::Consolidation answer = plan;
                answer.state = states.size() > 1 ? states.front() : states.back();
                if (states.size() > 1) states.erase(states.begin());
                answer.message = "i-1: there is no room";
                co_return answer;
            });
        plan.gpus = 8;
        plan.restarts = 1;
        plan.moves_total = 2;
        plan.freed_hosts = {{.host = "h-a", .name = "gpu-1", .zone = "lon", .gpus = 8}};
        plan.moves = {{.workload = "s-1",
                       .name = "small",
                       .spec_name = "small",
                       .gpus = 1,
                       .from_name = "gpu-1",
                       .to = "h-b",
                       .to_name = "gpu-2"},
                      {.workload = "i-1",
                       .kind = api::WorkloadKind::instance,
                       .name = "notebook",
                       .tenant_id = "acme",
                       .spec_name = "small",
                       .gpus = 1,
                       .from_name = "gpu-1",
                       .to = "h-b",
                       .to_name = "gpu-2"}};
    }
    api::Consolidation plan;
    std::vector<api::ConsolidationState> states{api::ConsolidationState::done};
    std::vector<std::string> asks;
    std::optional<Error> refused;
};

TEST_F(ConsolidateTest, WithoutATerminalItIsNotDoneUnasked) {
    EXPECT_EQ(run({"consolidate", "--zone", "lon", "--max-moves", "7"}), 2);
    EXPECT_THAT(asks, ElementsAre("dry zone=lon max=7"));
    EXPECT_THAT(out, HasSubstr("notebook"));
    EXPECT_THAT(out, HasSubstr("gpu-2"));
    EXPECT_THAT(err,
                HasSubstr("1 host with 8 GPUs would be free (gpu-1), for 2 moves, 1 of them restarts\n"));
    EXPECT_THAT(err, HasSubstr("needs --yes"));
}

TEST_F(ConsolidateTest, WhatWasShownIsWhatIsDone) {
    EXPECT_EQ(run({"consolidate", "--yes"}), 0) << err;
    EXPECT_THAT(asks, ElementsAre("dry zone= max=100", "zone= max=100 s-1>h-b i-1>h-b"));
    EXPECT_THAT(err, HasSubstr("consolidation/co-1 begun"));
    refused = Error{Code::conflict, "i-1 can no longer be moved", "plan_outdated"};
    EXPECT_EQ(run({"consolidate", "--yes"}), 5);
    EXPECT_THAT(err, HasSubstr("i-1 can no longer be moved"));
}

TEST_F(ConsolidateTest, APersonIsAsked) {
    std::string says = "n";
    world.ask = [&](std::string_view, bool) -> std::optional<std::string> { return says; };
    EXPECT_NE(run({"consolidate"}), 0);
    EXPECT_THAT(err, HasSubstr("nothing was done"));
    EXPECT_EQ(asks.size(), 1u);
    says = "y";
    EXPECT_EQ(run({"consolidate"}), 0) << err;
    EXPECT_EQ(asks.size(), 3u);
}

TEST_F(ConsolidateTest, WaitsUntilItIsOver) {
    states = {api::ConsolidationState::running, api::ConsolidationState::done};
    start({"consolidate", "--yes", "--wait"});
    EXPECT_FALSE(code);
    timers.advance(std::chrono::seconds{1});
    EXPECT_EQ(code, 0) << err;
    EXPECT_THAT(err, HasSubstr("consolidation/co-1 is done"));
    states = {api::ConsolidationState::failed};
    EXPECT_EQ(run({"consolidate", "--yes", "--wait"}), 5);
    EXPECT_THAT(err, HasSubstr("there is no room"));
    states = {api::ConsolidationState::running};
    start({"consolidate", "--yes", "--wait", "--timeout", "2s"});
    for (int second = 0; second < 3; ++second) timers.advance(std::chrono::seconds{1});
    EXPECT_EQ(code, 7) << err;
}

TEST_F(ConsolidateTest, NothingToMoveIsSaid) {
    plan.moves.clear();
    EXPECT_EQ(run({"consolidate", "--yes"}), 0);
    EXPECT_THAT(err, HasSubstr("no host could be freed"));
    EXPECT_EQ(asks.size(), 1u);
}

}  // namespace
}  // namespace hostler::cli
