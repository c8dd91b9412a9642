// Waiting and watching.
#include "cli/wait.h"

#include "api/operations_host.h"
#include "api/operations_instance.h"
#include "api/operations_long_operation.h"
#include "api/operations_volume.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class WaitTest : public CliTest {
protected:
    WaitTest() {
        api.handlers.on<api::ops::create_instance>(
            [](api::Call, api::CreateInstance) -> Task<api::CreatedInstance> {
                co_return api::CreatedInstance{};
            });
        api.handlers.on<api::ops::delete_instance>(
            [](api::Call, api::NameInstance) -> Task<api::Empty> { co_return api::Empty{}; });
        api.handlers.watch<api::ops::list_instances>(
            [this](api::Call call, api::ListInstances request, api::Watch<api::Instance>& to) -> Task<> {
                resumed.push_back(call.resume);
                asked = request;
                for (bool synced = false;; synced = true) {
                    while (sent < story.size()) {
                        const auto [change, instance] = story[sent++];
                        CO_TRY(co_await to.send(10 + sent, change, instance));
                        if (cut_after == sent) co_return Result<>{};
                    }
                    if (!synced) CO_TRY(co_await to.synced(10 + sent));
                    CO_TRY(co_await sleep(timers, 100ms));
                }
            });
    }
    // Lets the instance get to a state a while from now.
    void tell(api::InstanceState state, std::string phase, std::string message = "",
              api::Change change = api::Change::changed) {
        api::Instance instance{.id = "i-1",
                               .instance_id = "nb",
                               .tenant_id = "acme",
                               .state = state,
                               .phase = std::move(phase),
                               .reason = "image_unavailable",
                               .message = std::move(message)};
        instance.probes = probes;
        instance.started_at = started_at;
        if (state == api::InstanceState::stopped) instance.reason = "completed";
        if (state == api::InstanceState::running)
            instance.urls = {{8080, "http://i-1-8080.localhost:1/", true}};
        story.emplace_back(change, std::move(instance));
        timers.advance(1s);
    }
    const std::vector<std::string> start_and_wait{"instance", "create", "nb",      "--tenant", "acme",
                                                  "--spec",   "s",      "--image", "i",        "--wait"};

    std::vector<std::pair<api::Change, api::Instance>> story;
    int probes = 1;
    std::optional<WallTime> started_at;
    std::size_t sent = 0;
    std::size_t cut_after = 0;
    std::vector<std::uint64_t> resumed;
    api::ListInstances asked;
};

TEST_F(WaitTest, ShowsEachPhaseAndThenTheUrl) {
    start(start_and_wait);
    tell(api::InstanceState::ready, "pulling");
    tell(api::InstanceState::ready, "pulling");
    tell(api::InstanceState::ready, "probing");
    EXPECT_FALSE(code);
    tell(api::InstanceState::running, "running");
    EXPECT_EQ(code, 0);
    EXPECT_EQ(out, "http://i-1-8080.localhost:1/\n");
    EXPECT_THAT(
        err, StartsWith("pulling … 0s\nprobing … 2s\nrunning … 3s\ninstance/nb is running\nfiles outside"));
    EXPECT_EQ(asked.instance, "nb");
    EXPECT_EQ(asked.tenant_id, "acme");
    EXPECT_TRUE(asked.all);
}

TEST_F(WaitTest, TellsHowFarAPullAndABuildAreNowAndThen) {
    start(start_and_wait);
    tell(api::InstanceState::ready, "pulling", "pulling image i");
    for (int mb = 1; mb <= 9; ++mb)
        tell(api::InstanceState::ready, "pulling", fmt::format("pulling image i: {}.0 of 9.5 MB", mb));
    tell(api::InstanceState::ready, "pulling", "making image i: step 2 of 3: RUN true");
    timers.advance(5s);
    tell(api::InstanceState::ready, "starting", "starting the container");
    tell(api::InstanceState::ready, "probing", "port 80: connection refused");
    tell(api::InstanceState::running, "running", "an older message");
    EXPECT_THAT(err, StartsWith("pulling image i … 0s\n"
                                "pulling image i: 4.0 of 9.5 MB … 5s\n"
                                "pulling image i: 9.0 of 9.5 MB … 10s\n"
                                "making image i: step 2 of 3: RUN true … 15s\n"
                                "starting the container … 16s\n"
                                "probing: port 80: connection refused … 17s\n"
                                "running … 18s\n"
                                "instance/nb is running\n"));
}

TEST_F(WaitTest, WhatChangedLastIsToldAlthoughNothingFollows) {
    start(start_and_wait);
    tell(api::InstanceState::ready, "pulling", "pulling image i");
    tell(api::InstanceState::ready, "pulling", "making image i: step 1 of 3: FROM base");
    tell(api::InstanceState::ready, "pulling", "making image i: step 2 of 3: RUN true");
    EXPECT_EQ(err, "pulling image i … 0s\n");
    timers.advance(10s);
    EXPECT_EQ(err, "pulling image i … 0s\nmaking image i: step 2 of 3: RUN true … 5s\n");
}

TEST_F(WaitTest, ALineIsNoWiderThanTheTerminal) {
    world.err_is_terminal = true;
    world.columns = 24;
    start(start_and_wait);
    tell(api::InstanceState::ready, "pulling", "pulling image i: 1.0 of 9.5 MB");
    EXPECT_THAT(err, HasSubstr("\r\x1b[Kpulling image i:… … 0s"));
    EXPECT_THAT(err, ::testing::Not(HasSubstr("\n")));
}

class DrainTest : public CliTest {
protected:
    DrainTest() {
        api.handlers.on<api::ops::drain_host>([this](api::Call, api::DrainHost) -> Task<api::Host> {
            host.state = api::HostState::draining;
            host.drain_until = WallTime{std::chrono::hours{24 * 20'000}};
            co_return host;
        });
        api.handlers.on<api::ops::get_host>([this](api::Call, api::NameHost asked) -> Task<api::Host> {
            EXPECT_EQ(asked.host, "h-1");
            co_return host;
        });
    }
    api::Host host{.id = "h-1", .instances = 2};
};

TEST_F(DrainTest, WaitsUntilNothingIsLeft) {
    start({"host", "drain", "h-1", "--wait", "-o", "json"});
    timers.advance(1s);
    EXPECT_FALSE(code);
    EXPECT_THAT(err,
                HasSubstr("draining, 2 instances left; the remaining instances are stopped at 2024-10-04"));
    host.instances = 1;
    timers.advance(1s);
    host.instances = 0;
    timers.advance(1s);
    EXPECT_THAT(err, HasSubstr("draining, 1 instance left; "));
    EXPECT_THAT(err, HasSubstr("draining, 0 instances left … "));
    EXPECT_FALSE(code);
    host.state = api::HostState::drained;
    timers.advance(1s);
    EXPECT_EQ(code, 0);
    EXPECT_THAT(err, HasSubstr("host/h-1 drained: nothing is left there\n"));
    EXPECT_THAT(out, HasSubstr("\"state\": \"drained\""));
}

TEST_F(DrainTest, EndsAtItsDeadlineAndWhenSomebodyEndsTheDrain) {
    start({"host", "drain", "h-1", "--wait", "--timeout", "3s"});
    timers.advance(2s);
    EXPECT_FALSE(code);
    timers.advance(2s);
    EXPECT_EQ(code, static_cast<int>(Exit::timeout));
    EXPECT_THAT(err, HasSubstr("host h-1 is still draining, 2 instances left"));
    start({"host", "drain", "h-1", "--wait"});
    timers.advance(1s);
    host.state = api::HostState::ready;
    host.drain_until.reset();
    timers.advance(1s);
    EXPECT_EQ(code, static_cast<int>(Exit::conflict));
    EXPECT_THAT(err, HasSubstr("the drain of host h-1 was ended"));
}

TEST_F(WaitTest, PrintsTheInstanceToPrograms) {
    auto args = start_and_wait;
    args.insert(args.end(), {"-o", "json"});
    start(args);
    tell(api::InstanceState::running, "running");
    EXPECT_EQ(code, 0);
    EXPECT_THAT(out, HasSubstr("\"url\": \"http://i-1-8080.localhost:1/\""));
}

TEST_F(WaitTest, RedrawsOneLineOnATerminal) {
    world.err_is_terminal = true;
    start(start_and_wait);
    tell(api::InstanceState::ready, "pulling");
    timers.advance(3s);
    EXPECT_THAT(err, HasSubstr("\r\x1b[Kpulling … 3s"));
    tell(api::InstanceState::running, "running");
    EXPECT_EQ(code, 0);
    const std::string before = err;
    timers.advance(10s);
    EXPECT_EQ(err, before);  // Nothing is drawn after the end.
    EXPECT_THAT(err, HasSubstr("\r\x1b[Kinstance/nb is running\n"));
}

TEST_F(WaitTest, EndsWithTheReasonOfAFailure) {
    start(start_and_wait);
    tell(api::InstanceState::ready, "pulling");
    tell(api::InstanceState::failed, "failed", "the image cannot be pulled");
    EXPECT_EQ(code, 1);
    EXPECT_THAT(err, HasSubstr("hostler: instance nb is failed: the image cannot be pulled\n"));
    EXPECT_THAT(err, HasSubstr("`hostler instance explain nb` tells more\n")) << "it has no logs";
    EXPECT_EQ(out, "");
}

TEST_F(WaitTest, PointsAtTheLogsOfWhatHasRun) {
    started_at = *parse_rfc3339("2026-11-01T10:00:00Z");
    start(start_and_wait);
    tell(api::InstanceState::failed, "failed", "its program ended");
    EXPECT_EQ(code, 1);
    EXPECT_THAT(err, HasSubstr("`hostler instance explain nb` and `hostler instance logs nb` tell more\n"));
}

TEST_F(WaitTest, WhatHasNoProbeIsRunningWhenItHasRunForAMoment) {
    probes = 0;
    start(start_and_wait);
    tell(api::InstanceState::running, "running");
    timers.advance(3s);
    EXPECT_FALSE(code) << "it may end at once";
    timers.advance(2s);
    EXPECT_EQ(code, 0);
    EXPECT_THAT(err, HasSubstr("instance/nb is running\n"));
    // One that ends meanwhile was never running, for who waits.
    story.clear();
    sent = 0;
    err.clear();
    start(start_and_wait);
    tell(api::InstanceState::running, "running");
    timers.advance(2s);
    tell(api::InstanceState::failed, "failed", "its container exited with code 3");
    EXPECT_EQ(code, 1);
    EXPECT_THAT(err, HasSubstr("instance nb is failed: its container exited with code 3\n"));
    EXPECT_THAT(err, ::testing::Not(HasSubstr("is running\n")));
}

TEST_F(WaitTest, AProgramThatEndedWellIsNoFailure) {
    probes = 0;
    start(start_and_wait);
    tell(api::InstanceState::running, "running");
    tell(api::InstanceState::stopped, "stopped", "its program ended, with exit code 0");
    EXPECT_EQ(code, 0);
    EXPECT_THAT(err, HasSubstr("instance/nb ran, and its program has ended with exit code 0\n"));
}

TEST_F(WaitTest, GivesUpInTime) {
    auto args = start_and_wait;
    args.insert(args.end(), {"--timeout", "30s"});
    start(args);
    tell(api::InstanceState::ready, "pulling");
    timers.advance(28s);
    EXPECT_FALSE(code);
    timers.advance(2s);
    EXPECT_EQ(code, 7);
    EXPECT_THAT(err, HasSubstr("instance nb is still pulling"));
}

TEST_F(WaitTest, SurvivesAStreamThatBreaksOff) {
    cut_after = 1;
    start(start_and_wait);
    tell(api::InstanceState::ready, "pulling");
    api.down = true;
    timers.advance(5s);
    EXPECT_FALSE(code);
    api.down = false;
    tell(api::InstanceState::running, "running");
    EXPECT_EQ(code, 0) << err;
    EXPECT_THAT(resumed, ::testing::ElementsAre(0U, 11U));
}

TEST_F(WaitTest, WaitsForTheEndOfWhatItStops) {
    start({"instance", "delete", "nb", "--wait"});
    EXPECT_EQ(code, 0);  // It is not there any more.
    EXPECT_EQ(err, "instance/nb deleted\n");
}

TEST_F(WaitTest, WhatHasFailedHasEndedOnceItHoldsNoPlace) {
    probes = 0;
    api::Instance failed{
        .id = "i-1", .instance_id = "nb", .tenant_id = "acme", .state = api::InstanceState::failed};
    failed.holds_place = true;
    story.emplace_back(api::Change::added, failed);
    start({"instance", "delete", "nb", "--wait"});
    timers.advance(2s);
    EXPECT_THAT(err, ::testing::Not(::testing::HasSubstr("deleted"))) << "its volumes are not free yet";
    failed.holds_place = false;
    story.emplace_back(api::Change::changed, failed);
    timers.advance(1s);
    EXPECT_EQ(code, 0);
    EXPECT_THAT(err, ::testing::HasSubstr("instance/nb deleted\n"));
}

TEST_F(WaitTest, WaitsForOperations) {
    int asked_times = 0;
    bool fails = false;
    api.handlers.on<api::ops::delete_volume>([](api::Call, api::NameVolume) -> Task<api::LongOperation> {
        co_return api::LongOperation{.id = "op-1"};
    });
    api.handlers.on<api::ops::get_operation>(
        [&](api::Call, api::GetOperation request) -> Task<api::LongOperation> {
            EXPECT_EQ(request.operation, "op-1");
            api::LongOperation operation{.id = "op-1", .message = "waiting for host h-1"};
            if (++asked_times < 3) co_return operation;
            operation.state = fails ? api::LongState::failed : api::LongState::done;
            if (fails) operation.error = api::problem_of({.code = Code::conflict, .message = "it is in use"});
            co_return operation;
        });
    EXPECT_EQ(run({"volume", "delete", "v", "-y"}), 0);
    EXPECT_THAT(err, HasSubstr("`hostler operation get op-1`"));
    start({"volume", "delete", "v", "-y", "--wait"});
    EXPECT_FALSE(code);
    timers.advance(5s);
    EXPECT_EQ(code, 0);
    EXPECT_EQ(err, "waiting for host h-1 … 0s\nvolume/v deleted\n");
    asked_times = 0;
    fails = true;
    start({"volume", "delete", "v", "-y", "--wait"});
    timers.advance(5s);
    EXPECT_EQ(code, 5);
    EXPECT_THAT(err, HasSubstr("hostler: it is in use\n"));
}

TEST_F(WaitTest, WatchPrintsWhatChanges) {
    start({"instance", "list", "--watch", "-o", "json"});
    tell(api::InstanceState::ready, "pulling", "", api::Change::added);
    tell(api::InstanceState::running, "running");
    EXPECT_FALSE(code);
    EXPECT_THAT(out, ::testing::StartsWith("{\"event\":\"added\",\"item\":{\"id\":\"i-1\""));
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2);
}

TEST_F(WaitTest, WatchPrintsATableThatGrows) {
    start({"instance", "list", "--watch"});
    tell(api::InstanceState::ready, "pulling", "", api::Change::added);
    tell(api::InstanceState::running, "running");
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3) << out;  // The head comes with the first row.
    EXPECT_THAT(out, ::testing::StartsWith("INSTANCE ID"));
}

TEST_F(WaitTest, ColumnsOfAWatchedTableStayWhereTheyAre) {
    world.out_is_terminal = true;
    world.columns = 110;
    start({"instance", "list", "--watch", "--no-color"});
    tell(api::InstanceState::ready, "", "", api::Change::added);
    tell(api::InstanceState::running, "running");
    api::Instance longer = story.back().second;
    longer.instance_id = "another";
    longer.reason = "a_reason_that_is_longer_than_any_before";
    story.emplace_back(api::Change::added, longer);
    timers.advance(1s);
    std::vector<std::size_t> states, urls;
    std::size_t number = 0;
    for (std::size_t at = 0; at < out.size(); at = out.find('\n', at) + 1, ++number) {
        const std::string line = out.substr(at, out.find('\n', at) - at);
        states.push_back(line.find(number == 0 ? "STATE" : number == 1 ? "ready" : "running"));
        if (number == 0 || number == 2) urls.push_back(line.find(number == 0 ? "URLS" : "http://"));
    }
    EXPECT_EQ(number, 4U) << out;
    EXPECT_EQ(std::set<std::size_t>(states.begin(), states.end()).size(), 1U) << out;
    EXPECT_EQ(urls.front(), urls.back()) << out;
    EXPECT_THAT(out, HasSubstr("a_reason_that_is…  http://"));
}

}  // namespace
}  // namespace hostler::cli
