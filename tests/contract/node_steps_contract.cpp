#include "node_steps_contract.h"

namespace hostler::contract {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

NodeStep node_step(std::string name = "make") {
    return {.node = "kn-1", .name = std::move(name), .deadline = seconds{30}};
}

}  // namespace

TEST_P(NodeStepsContract, AStepThatIsDoneIsNotRun) {
    NodeStep once = node_step();
    once.run = rig_->command("make", {.marks = true});
    once.done = rig_->asks("ask", "make");
    once.files = {{rig_->path("file"), "one"}};
    const auto first = run(rig_->steps().perform(once));
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_FALSE(first->was_done);
    EXPECT_EQ(rig_->runs("ask"), 2U) << "before it and after it";
    once.files[0].text = "two";
    const auto second = run(rig_->steps().perform(once));
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->was_done);
    EXPECT_EQ(rig_->runs("make"), 1U);
    EXPECT_EQ(rig_->text(rig_->path("file")), "one") << "nothing is done of what is done";
}

TEST_P(NodeStepsContract, WithoutAQuestionItIsRunEachTime) {
    NodeStep often = node_step();
    often.run = rig_->command("make", {});
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(run(rig_->steps().perform(often)));
    EXPECT_EQ(rig_->runs("make"), 2U);
}

TEST_P(NodeStepsContract, WhatIsNotDoneAfterwardsHasFailed) {
    NodeStep idle = node_step();
    idle.run = rig_->command("make", {});
    idle.done = rig_->asks("ask", "other");
    const auto done = run(rig_->steps().perform(idle));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::conflict);
    EXPECT_EQ(done.error().reason, "step_failed");
}

TEST_P(NodeStepsContract, AFailureHasTheLastLinesAndNoOutput) {
    NodeStep fails = node_step();
    fails.run = rig_->command(
        "make", {.exit_code = 3, .says = "token=abcdef.0123\nsome words\n", .complains = "no such thing\n"});
    fails.outputs = {"token"};
    const auto done = run(rig_->steps().perform(fails));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::conflict);
    EXPECT_EQ(done.error().reason, "step_failed");
    EXPECT_NE(done.error().message.find("no such thing"), std::string::npos) << done.error().message;
    EXPECT_NE(done.error().message.find("3"), std::string::npos);
    EXPECT_EQ(done.error().message.find("abcdef"), std::string::npos) << done.error().message;
}

TEST_P(NodeStepsContract, OutputsAreThoseThatAreAskedFor) {
    NodeStep prints = node_step();
    prints.run = rig_->command("make", {.says = "words\ntoken=abc=def\nhash=1\nother=2\n"});
    prints.outputs = {"token", "hash"};
    const auto done = run(rig_->steps().perform(prints));
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->outputs, (std::map<std::string, std::string>{{"token", "abc=def"}, {"hash", "1"}}));
    prints.outputs.push_back("third");
    const auto less = run(rig_->steps().perform(prints));
    ASSERT_FALSE(less);
    EXPECT_EQ(less.error().reason, "step_failed");
    EXPECT_EQ(less.error().message.find("abc"), std::string::npos);
}

// The agent may have died between the step and its answer.
TEST_P(NodeStepsContract, AStepWithOutputsIsDoneOnlyWithThem) {
    NodeStep prints = node_step();
    prints.run = rig_->command("make", {.says = "token=abc\n", .marks = true});
    prints.done = rig_->asks("ask", "make");
    prints.outputs = {"token"};
    for (int i = 0; i < 2; ++i) {
        const auto done = run(rig_->steps().perform(prints));
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(done->outputs.at("token"), "abc");
    }
    EXPECT_EQ(rig_->runs("make"), 2U);
}

TEST_P(NodeStepsContract, WhatIsTriedAgainIsUndoneFirst) {
    NodeStep again = node_step();
    again.run = rig_->command("make", {});
    again.undo = rig_->command("undo", {});
    ASSERT_TRUE(run(rig_->steps().perform(again)));
    EXPECT_EQ(rig_->runs("undo"), 0U);
    again.again = true;
    ASSERT_TRUE(run(rig_->steps().perform(again)));
    EXPECT_EQ(rig_->runs("undo"), 1U);
    again.undo = rig_->command("undo2", {.exit_code = 1});
    EXPECT_FALSE(run(rig_->steps().perform(again)));
    EXPECT_EQ(rig_->runs("make"), 2U);
}

TEST_P(NodeStepsContract, AProgramThatIsNotThere) {
    NodeStep lost = node_step();
    lost.run = {rig_->missing(), "x"};
    const auto done = run(rig_->steps().perform(lost));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::not_found);
    EXPECT_EQ(done.error().reason, "program_missing");
    lost.run.clear();
    lost.start = {rig_->missing(), "x"};
    const auto started = run(rig_->steps().perform(lost));
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().reason, "program_missing");
}

TEST_P(NodeStepsContract, WhatIsLateIsKilledWithItsChildren) {
    NodeStep late = node_step();
    late.run = rig_->command("make", {.hangs = true});
    late.deadline = milliseconds{1500};
    const auto done = run(rig_->steps().perform(late));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::timeout);
    EXPECT_EQ(done.error().reason, "step_late");
    EXPECT_EQ(rig_->alive("make"), 0U);
}

TEST_P(NodeStepsContract, WhatIsCancelledIsKilledWithItsChildren) {
    NodeStep slow = node_step();
    slow.run = rig_->command("make", {.hangs = true});
    TaskGroup group{rig_->loop()};
    Code ended = Code::internal;
    group.start("step", [](NodeSteps& steps, NodeStep of, Code& into) -> Task<> {
        const auto done = co_await steps.perform(std::move(of));
        into = done ? Code::internal : done.error().code;
        co_return Result<>{};
    }(rig_->steps(), slow, ended));
    rig_->drive([&] { return rig_->alive("make") > 0; });
    group.cancel();
    rig_->drive([&] { return group.size() == 0; });
    EXPECT_EQ(ended, Code::cancelled);
    EXPECT_EQ(rig_->alive("make"), 0U);
}

TEST_P(NodeStepsContract, AProgramOutlivesTheAgentUntilItsNodeIsForgotten) {
    NodeStep keeps = node_step("kubelet");
    keeps.start = rig_->program("server");
    ASSERT_TRUE(run(rig_->steps().perform(keeps)));
    rig_->drive([&] { return rig_->alive("server") > 0; });
    NodeStep slow = node_step("other");
    slow.run = rig_->command("make", {.hangs = true});
    rig_->die_during(slow, "make");
    EXPECT_EQ(rig_->alive("server"), 1U);
    ASSERT_TRUE(run(rig_->steps().perform(keeps))) << "it runs already";
    EXPECT_EQ(rig_->alive("server"), 1U);
    ASSERT_TRUE(run(rig_->steps().forget("kn-2")));
    EXPECT_EQ(rig_->alive("server"), 1U) << "of another node";
    ASSERT_TRUE(run(rig_->steps().forget("kn-1")));
    EXPECT_EQ(rig_->alive("server"), 0U);
    ASSERT_TRUE(run(rig_->steps().forget("kn-1"))) << "again";
}

TEST_P(NodeStepsContract, AStepEndsProgramsThatItNames) {
    NodeStep keeps = node_step("kubelet");
    keeps.start = rig_->program("server");
    ASSERT_TRUE(run(rig_->steps().perform(keeps)));
    rig_->drive([&] { return rig_->alive("server") > 0; });
    NodeStep ends = node_step("clean");
    ends.stop = {"kubelet", "another"};
    ends.run = rig_->command("make", {});
    ASSERT_TRUE(run(rig_->steps().perform(ends)));
    EXPECT_EQ(rig_->alive("server"), 0U);
}

TEST_P(NodeStepsContract, WhatTheDeadAgentBeganIsDoneAgain) {
    NodeStep slow = node_step();
    slow.run = rig_->command("make", {.hangs = true});
    rig_->die_during(slow, "make");
    slow.run = rig_->command("make2", {});
    ASSERT_TRUE(run(rig_->steps().perform(slow)));
    EXPECT_EQ(rig_->alive("make"), 0U) << "two of them would do it at the same time";
}

TEST_P(NodeStepsContract, WhatTheDeadAgentBeganEndsBeforeAnotherStepOfItsNode) {
    NodeStep slow = node_step("join");
    slow.run = rig_->command("make", {.hangs = true});
    rig_->die_during(slow, "make");
    NodeStep cleans = node_step("clean");
    cleans.run = rig_->command("make2", {});
    ASSERT_TRUE(run(rig_->steps().perform(cleans)));
    EXPECT_EQ(rig_->alive("make"), 0U) << "it would make again what is cleaned";
}

TEST_P(NodeStepsContract, FilesAreWholeAlsoWhenTheAgentDies) {
    NodeStep writes = node_step();
    const std::string big(200'000, 'a'), path = rig_->path("deep/below/config");
    writes.files = {{path, big, 0640}};
    ASSERT_TRUE(run(rig_->steps().perform(writes)));
    EXPECT_EQ(rig_->text(path), big);
    writes.files[0].text = std::string(200'000, 'b');
    writes.run = rig_->command("make", {.hangs = true});
    rig_->die_during(writes, "make");
    const auto text = rig_->text(path);
    ASSERT_TRUE(text);
    EXPECT_TRUE(*text == big || *text == writes.files[0].text);
}

TEST_P(NodeStepsContract, LeftoversOfEachKindAreFound) {
    Leftovers patterns;
    const auto nothing = run(rig_->steps().look(patterns));
    ASSERT_TRUE(nothing) << nothing.error().message;
    for (const char* kind : {"process", "mount", "interface", "table", "file", "cgroup"}) {
        Leftovers fit;
        const std::string name = rig_->plant(kind, fit);
        if (name.empty()) {
            std::printf("  this machine can have no %s\n", kind);
            continue;
        }
        const auto found = run(rig_->steps().look(fit));
        ASSERT_TRUE(found) << kind << ": " << found.error().message;
        ASSERT_EQ(found->size(), 1U) << kind;
        EXPECT_EQ(found->front().kind, kind);
        EXPECT_TRUE(found->front().name.starts_with(name)) << found->front().name;
        const auto other = run(rig_->steps().look({.processes = {"no-such*"},
                                                   .mounts = {"/no-such*"},
                                                   .interfaces = {"no-such*"},
                                                   .tables = {"ip no-such*", "NO-SUCH*"},
                                                   .files = {"/no-such*"},
                                                   .cgroups = {"no-such*"},
                                                   .images = {"no-such*"}}));
        ASSERT_TRUE(other) << other.error().message;
        EXPECT_TRUE(other->empty()) << other->front().kind << " " << other->front().name;
        rig_->uproot(kind);
        const auto gone = run(rig_->steps().look(fit));
        ASSERT_TRUE(gone);
        EXPECT_TRUE(gone->empty()) << kind;
    }
}

}  // namespace hostler::contract
