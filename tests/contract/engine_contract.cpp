#include "engine_contract.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/log_lines.h"
#include "domain/image/image.h"

namespace hostler::contract {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

void EngineContract::SetUp() {
    rig_ = GetParam().make();
    if (!rig_) GTEST_SKIP() << GetParam().name << " cannot be had here: it needs root and its packages";
    rig_->enter();
}

void EngineContract::TearDown() {
    if (!rig_) return;
    for (const auto& container : launched_) {
        const auto removed = run(rig_->engine().remove(container));
        EXPECT_TRUE(removed) << removed.error().message;
    }
    for (const auto& id : networks_) EXPECT_TRUE(run(rig_->network().remove(id)));
    rig_->leave();
}

std::string EngineContract::name(std::string_view suffix) const {
    std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ranges::replace(test, '/', '-');
    return test + "-" + std::string(suffix);
}

std::string EngineContract::log_text(LogsWanted wanted) {
    const auto log = run(rig_->engine().logs(name(), wanted));
    EXPECT_TRUE(log) << log.error().message;
    return log ? text_of(log_pieces(log->pieces)) : "";
}

Result<Container> EngineContract::launch(ContainerSpec spec) {
    launched_.push_back(spec.name);
    TRY(run(rig_->engine().pull(spec.image, {})));
    return run(rig_->engine().launch(std::move(spec)));
}

std::vector<Container> EngineContract::list(std::string_view suffix) {
    auto all = run(rig_->engine().list(label, name(suffix)));
    EXPECT_TRUE(all) << all.error().message;
    return all ? *all : std::vector<Container>{};
}

Container EngineContract::wait_until(ContainerState state, std::string_view suffix) {
    const auto end = rig_->timers().now() + 20s;
    while (rig_->timers().now() < end) {
        auto all = list(suffix);
        if (all.size() == 1 && all[0].state == state) return all[0];
        EXPECT_TRUE(run(sleep(rig_->timers(), 20ms)));
    }
    ADD_FAILURE() << name(suffix) << " did not reach the state";
    return {};
}

NetworkSpec EngineContract::make_network(int number) {
    auto subnet = rig_->subnet(number);
    // Engines of one machine share more than they should: with the subnet in it the id is unique to this run.
    auto unique = subnet.substr(0, subnet.find('/'));
    std::ranges::replace(unique, '.', '-');
    NetworkSpec spec{
        .id = "n-" + name(unique), .subnet = subnet, .gateway = subnet.substr(0, subnet.rfind('.')) + ".1"};
    const auto made = run(rig_->network().ensure(spec));
    EXPECT_TRUE(made) << made.error().message;
    networks_.push_back(spec.id);
    return spec;
}

TEST_P(EngineContract, SaysWhatItIs) {
    const auto facts = run(rig_->engine().describe());
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_FALSE(facts->name.empty());
    EXPECT_THAT(facts->cgroup_version, ::testing::AnyOf(1, 2));
}

TEST_P(EngineContract, TellsWhatHappensToTheContainersThatAreFollowed) {
    TaskGroup stream{rig_->loop()};
    bool follows = false;
    int changes = 0;
    stream.start("events", rig_->events().follow(label, name(), [&](EngineNews news) {
        follows = true;
        if (news == EngineNews::changed) ++changes;
    }));
    const auto wait_for = [&](auto done, Duration time) {
        const auto end = rig_->timers().now() + time;
        while (!done() && rig_->timers().now() < end) EXPECT_TRUE(run(sleep(rig_->timers(), 20ms)));
        return done();
    };
    ASSERT_TRUE(wait_for([&] { return follows; }, 10s));
    EXPECT_TRUE(run(sleep(rig_->timers(), 1s)));  // What happens before may stay untold.
    ASSERT_TRUE(launch(rig_->server(name("other"))));
    EXPECT_TRUE(run(sleep(rig_->timers(), 1s)));
    EXPECT_EQ(changes, 0) << "of others nothing is told";
    const auto is_told = [&](std::string_view what) {
        EXPECT_TRUE(wait_for([&] { return changes > 0; }, 5s)) << what;
        EXPECT_TRUE(run(sleep(rig_->timers(), 1500ms)));  // All that belongs to it.
        changes = 0;
    };
    ASSERT_TRUE(launch(rig_->server(name())));
    is_told("it was started");
    ASSERT_TRUE(run(rig_->engine().stop(name(), Duration{0})));
    is_told("it has ended");
    ASSERT_TRUE(run(rig_->engine().remove(name())));
    is_told("it was removed");
    EXPECT_TRUE(run(rig_->events().answers()));
    EXPECT_EQ(stream.size(), 1U) << "it goes on";
    ASSERT_TRUE(run(stream.close()));
}

TEST_P(EngineContract, WhatRunsTellsWhereItListensAndThatNothingWasKilled) {
    Processes& processes = rig_->processes();
    const auto network = make_network(7);
    auto spec = rig_->server(name());
    spec.network = network.id;
    spec.address = network.gateway.substr(0, network.gateway.rfind('.') + 1) + "9";
    ASSERT_TRUE(launch(spec));
    const auto end = rig_->timers().now() + 10s;
    auto addresses = run(processes.listening(name(), 8080));
    while (addresses && addresses->empty() && rig_->timers().now() < end) {
        EXPECT_TRUE(run(sleep(rig_->timers(), 20ms)));
        addresses = run(processes.listening(name(), 8080));
    }
    EXPECT_EQ(addresses, std::vector<std::string>{"0.0.0.0"});
    const auto kills = run(processes.memory_kills({name(), name("nobody")}));
    ASSERT_TRUE(kills) << kills.error().message;
    EXPECT_EQ(*kills, (std::map<std::string, MemoryKills>{{name(), {}}}));
    ASSERT_TRUE(run(rig_->engine().stop(name(), Duration{0})));
    EXPECT_EQ(run(processes.listening(name(), 8080)).error().code, Code::not_found);
    EXPECT_EQ(run(processes.listening(name("nobody"), 8080)).error().code, Code::not_found);
    EXPECT_TRUE(run(processes.memory_kills({name()}))->empty());
}

TEST_P(EngineContract, LaunchedTwiceIsOneContainer) {
    const auto spec = rig_->server(name());
    const auto first = launch(spec);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->state, ContainerState::running);
    EXPECT_EQ(first->labels.at(label), name());
    const auto second = launch(spec);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(*second, *first);
    EXPECT_EQ(list().size(), 1U);
}

TEST_P(EngineContract, TheSameNameWithOtherLabelsIsAConflict) {
    auto spec = rig_->server(name());
    spec.labels["hostler.generation"] = "1";
    ASSERT_TRUE(launch(spec));
    spec.labels["hostler.generation"] = "2";
    const auto other = launch(spec);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Code::conflict);
    EXPECT_EQ(other.error().reason, Engine::name_taken);
    EXPECT_EQ(list().at(0).labels.at("hostler.generation"), "1");
}

TEST_P(EngineContract, AnImageThatNobodyHasIsNotFoundAndLeavesNothing) {
    auto spec = rig_->server(name());
    spec.image = "localhost/nobody-has-this:1";
    const auto answer = run(rig_->engine().launch(spec));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::not_found);
    EXPECT_EQ(answer.error().reason, Engine::image_missing);
    EXPECT_THAT(answer.error().message, HasSubstr("localhost/nobody-has-this:1"));
    EXPECT_TRUE(list().empty());
    EXPECT_EQ(run(rig_->engine().pull(spec.image, {})).error().code, Code::not_found);
}

TEST_P(EngineContract, PullingWhatIsThereSucceeds) {
    EXPECT_TRUE(run(rig_->engine().pull(rig_->server(name()).image, {})));
}

TEST_P(EngineContract, WhatIsPulledIsAmongTheImagesUnderItsFullName) {
    const auto image = rig_->server(name()).image;
    ASSERT_TRUE(run(rig_->engine().pull(image, {})));
    const auto names = run(rig_->images().image_names());
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_THAT(*names, ::testing::Contains(full_image_name(image)));
    EXPECT_THAT(*names, ::testing::Not(::testing::Contains(HasSubstr("nobody-has"))));
    EXPECT_TRUE(std::ranges::is_sorted(*names));
    EXPECT_EQ(std::ranges::adjacent_find(*names), names->end());
    for (const auto& one : *names) EXPECT_EQ(full_image_name(one), one);
}

TEST_P(EngineContract, TheExitCodeIsKept) {
    ASSERT_TRUE(launch(rig_->finisher(name(), 7)));
    const auto ended = wait_until(ContainerState::exited);
    EXPECT_EQ(ended.exit_code, 7);
    EXPECT_FALSE(ended.oom_killed);
}

TEST_P(EngineContract, WhatHasEndedIsNotStartedAgain) {
    const auto spec = rig_->finisher(name(), 3);
    ASSERT_TRUE(launch(spec));
    wait_until(ContainerState::exited);
    const auto again = launch(spec);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->state, ContainerState::exited);
    EXPECT_EQ(again->exit_code, 3);
}

TEST_P(EngineContract, StoppingAsksFirstAndMayBeRepeated) {
    ASSERT_TRUE(launch(rig_->server(name())));
    EXPECT_EQ(run(rig_->engine().stop(name(), 10s)), StopEnd::ended);
    EXPECT_EQ(wait_until(ContainerState::exited).exit_code, 0);
    EXPECT_THAT(log_text({64 * 1024}), HasSubstr("SIGTERM"));
    EXPECT_EQ(run(rig_->engine().stop(name(), 10s)), StopEnd::ended);
    EXPECT_EQ(run(rig_->engine().stop("nothing-of-that-name", 1s)), StopEnd::ended);
}

TEST_P(EngineContract, WhatDoesNotEndIsKilledWhenItsGraceIsOver) {
    ASSERT_TRUE(launch(rig_->stubborn(name())));
    wait_until(ContainerState::running);
    const Instant asked = rig_->timers().now();
    EXPECT_EQ(run(rig_->engine().stop(name(), 2s)), StopEnd::killed);
    EXPECT_GE(rig_->timers().now() - asked, 2s);
    EXPECT_LT(rig_->timers().now() - asked, 10s);
    EXPECT_EQ(wait_until(ContainerState::exited).exit_code, 137);
    EXPECT_EQ(run(rig_->engine().stop(name(), 2s)), StopEnd::ended) << "it is over: nothing was killed now";
}

TEST_P(EngineContract, LogsOfWhatHasEndedAreTheLastBytes) {
    ASSERT_TRUE(launch(rig_->finisher(name(), 0)));
    wait_until(ContainerState::exited);
    const auto whole = log_text({64 * 1024});
    EXPECT_THAT(whole, HasSubstr("leaving"));
    const auto part = run(rig_->engine().logs(name(), {.bytes_max = 25}));
    ASSERT_TRUE(part);
    EXPECT_EQ(text_of(log_pieces(part->pieces)), whole.substr(whole.size() - 5));
    EXPECT_TRUE(part->truncated);
    const auto none = run(rig_->engine().logs("nothing-of-that-name", {100}));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Code::not_found);
}

TEST_P(EngineContract, LinesOfALogHaveTheirTimes) {
    ASSERT_TRUE(launch(rig_->finisher(name(), 0)));
    wait_until(ContainerState::exited);
    const auto log = run(rig_->engine().logs(name(), {.bytes_max = 64 * 1024}));
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_FALSE(log->truncated);
    const auto lines = log_pieces(log->pieces);
    ASSERT_FALSE(lines.empty());
    EXPECT_THAT(std::string{lines.back().text}, HasSubstr("leaving"));
    const auto last = lines.back().time;
    EXPECT_THAT(log_text({.bytes_max = 64 * 1024, .since = last}), HasSubstr("leaving"));
    EXPECT_EQ(log_text({.bytes_max = 64 * 1024, .since = last + 1us}), "");
    EXPECT_EQ(log_text({.bytes_max = 64 * 1024, .after = log->next}), "");
    EXPECT_EQ(log_text({.bytes_max = 64 * 1024, .after = LogPlace{}}), text_of(lines));
}

TEST_P(EngineContract, RemovingTakesItAwayAndMayBeRepeated) {
    ASSERT_TRUE(launch(rig_->server(name())));
    EXPECT_TRUE(run(rig_->engine().remove(name())));
    EXPECT_TRUE(list().empty());
    EXPECT_TRUE(run(rig_->engine().remove(name())));
}

TEST_P(EngineContract, ListShowsThoseWithTheLabelOnly) {
    ASSERT_TRUE(launch(rig_->server(name("a"))));
    ASSERT_TRUE(launch(rig_->server(name("b"))));
    const auto all = list("b");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].name, name("b"));
    EXPECT_EQ(all[0].state, ContainerState::running);
    EXPECT_TRUE(list("c").empty());
}

TEST_P(EngineContract, AMissingDeviceIsNotFoundAndLeavesNothing) {
    auto spec = rig_->server(name());
    spec.cdi_devices = {"nvidia.com/gpu=not-there"};
    const auto answer = launch(spec);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::not_found);
    EXPECT_THAT(answer.error().message, HasSubstr("not-there"));
    EXPECT_TRUE(list().empty());
}

TEST_P(EngineContract, AfterACrashOfTheEngineAllIsFoundAgain) {
    const auto spec = rig_->server(name());
    ASSERT_TRUE(launch(spec));
    ASSERT_TRUE(launch(rig_->finisher(name("b"), 5)));
    wait_until(ContainerState::exited, "b");
    rig_->crash();
    const auto all = list();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].state, ContainerState::running);
    ASSERT_EQ(list("b").size(), 1U);
    EXPECT_EQ(list("b")[0].exit_code, 5);
    const auto again = launch(spec);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->state, ContainerState::running);
    EXPECT_TRUE(run(rig_->engine().stop(name(), 5s)));
}

}  // namespace hostler::contract
