#include "roles/master/container/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/master/instance/explain.h"
#include "roles/master/series/usage.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// One instance that runs.
struct Kills : DeskRig, ::testing::Test {
    Kills() {
        a = host("a");
        EXPECT_TRUE(stock(2));
        EXPECT_TRUE(start(request("one")));
        id = find_instance(desk, "acme", "one")->id;
        say(0, "");
        answer(id, {.done = true});
        (void)events();
    }
    // Its host says that so many were killed.
    void say(std::int64_t count, std::string process) {
        SeenWorkload workload{.state = "running", .generation = instance(id).run_generation, .ready = true};
        workload.memory_kills = {.count = count, .process = std::move(process)};
        said[a][id] = workload;
        report(a);
    }
    std::vector<std::string> events() {
        std::vector<std::string> messages;
        for (const auto& event : take().events)
            if (event.id == id && event.reason == "process_out_of_memory") messages.push_back(event.message);
        return messages;
    }
    std::string page() {
        MetricsPage made;
        EXPECT_TRUE(write_gpu_metrics(made, desk, ""));
        return made.text();
    }
    std::string a, id;
};

TEST_F(Kills, OneIsAnEventALineOfExplainAndARowOfMetrics) {
    EXPECT_THAT(explain_instance(desk, instance(id)).sentence, Not(HasSubstr("kernel")));
    EXPECT_THAT(page(), Not(HasSubstr("memory_kills")));
    say(1, "python3");
    EXPECT_THAT(events(), ElementsAre("its memory was used up, and the kernel killed its process python3"));
    EXPECT_EQ(instance(id).phase, InstancePhase::running);
    const auto why = explain_instance(desk, instance(id));
    EXPECT_THAT(why.sentence,
                HasSubstr("Its memory was used up, and the kernel killed its process python3."));
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("Let python3 use less memory"));
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("larger spec"));
    EXPECT_THAT(page(), HasSubstr("# TYPE hostler_instance_memory_kills_total counter\n"));
    EXPECT_THAT(page(), HasSubstr("tenant=\"acme\",workload=\"one\"} 1\n"));
    say(1, "python3");
    EXPECT_THAT(events(), IsEmpty()) << "it is told once";
}

TEST_F(Kills, InALoopAreOneEventAMinuteWithTheirNumber) {
    say(1, "loader");
    EXPECT_EQ(events().size(), 1U);
    for (int second = 2; second <= 59; ++second) {
        pass(1);
        say(second, "loader");
    }
    EXPECT_THAT(events(), IsEmpty());
    pass(2);
    say(60, "python3");
    EXPECT_THAT(events(),
                ElementsAre("its memory was used up, and the kernel killed 59 of its processes, the "
                            "last was python3"));
}

TEST_F(Kills, OfAnEarlierRunDoNotCount) {
    said[a][id].memory_kills = {.count = 4, .process = "x"};
    said[a][id].generation = instance(id).run_generation + 1;
    report(a);
    EXPECT_THAT(events(), IsEmpty());
    say(4, "x");
    EXPECT_EQ(events().size(), 1U);
    // Its container was started again by itself.
    say(0, "");
    EXPECT_THAT(events(), IsEmpty());
    pass(61);
    say(4, "");
    EXPECT_THAT(events(), ElementsAre("its memory was used up, and the kernel killed 4 of its processes"));
}

TEST_F(Kills, AProgramThatEndsAfterwardsIsExplained) {
    say(1, "loader");
    said[a][id].state = "exited";
    said[a][id].exit_code = 1;
    report(a);
    ASSERT_EQ(instance(id).phase, InstancePhase::failed);
    EXPECT_EQ(instance(id).reason, "exited");
    const auto why = explain_instance(desk, instance(id));
    EXPECT_THAT(why.sentence, HasSubstr("killed its process loader"));
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("Let loader use less memory"));
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("begin once more"));
}

TEST_F(Kills, AProgramThatWasKilledItselfIsNoOtherProcess) {
    said[a][id].memory_kills = {.count = 1, .process = "main"};
    said[a][id].state = "exited";
    said[a][id].exit_code = 137;
    said[a][id].oom_killed = true;
    report(a);
    EXPECT_THAT(events(), IsEmpty());
    EXPECT_EQ(instance(id).reason, "out_of_memory");
    EXPECT_THAT(explain_instance(desk, instance(id)).sentence, Not(HasSubstr("main")));
}

}  // namespace
}  // namespace hostler::master
