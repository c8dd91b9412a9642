// What a newer agent left in the journal is not lost on an older one.
#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "roles/agent/book.h"

namespace hostler::agent {
namespace {

using hostler::testing::run;

struct KeptJournal final : Journal {
    const std::map<std::string, std::string>& all() const override { return entries; }
    Task<> put_all(std::vector<Entry> given) override {
        for (auto& [key, value] : given) entries[key] = value;
        co_return Result<>{};
    }
    Task<> erase(std::string key) override {
        entries.erase(key);
        co_return Result<>{};
    }
    std::map<std::string, std::string> entries;
};

uplink::Command stop(const std::string& id) {
    uplink::Command command;
    command.set_id(id);
    command.set_subject("i-1");
    command.set_generation(2);
    command.mutable_stop_workload()->set_instance("i-1");
    return command;
}

TEST(NewerEntries, StayInTheJournalOfAnOlderAgent) {
    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    KeptJournal journal;
    journal.entries = {{"warp/1", "x"}, {"generation/i-9", "4 99999999999999999 and more"}};
    CommandBook book{journal, timers};
    book.load();
    EXPECT_EQ(book.generation("i-9"), 4u);
    ASSERT_TRUE(run(loop, book.admit(stop("cmd-1"))));
    uplink::CommandUpdate answer;
    answer.set_id("cmd-1");
    ASSERT_TRUE(run(loop, book.finish(answer)));
    ASSERT_TRUE(run(loop, book.acknowledge("cmd-1")));
    ASSERT_TRUE(run(loop, book.sweep()));
    EXPECT_EQ(journal.entries.at("warp/1"), "x");
    EXPECT_EQ(journal.entries.at("generation/i-9"), "4 99999999999999999 and more");
}

TEST(NewerEntries, FieldsOfACommandOutliveTheOlderAgentThatGoesOnWithIt) {
    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    KeptJournal journal;
    // Field 200 of a command, which this release does not know.
    const std::string later = stop("cmd-1").SerializeAsString() + std::string{"\xc2\x0c\x03new", 6};
    journal.entries["command/cmd-1"] = "B 1 99999999999999999\n" + later;
    CommandBook book{journal, timers};
    book.load();
    ASSERT_EQ(book.unfinished().size(), 1u);
    EXPECT_EQ(book.unfinished().front().SerializeAsString(), later);
    EXPECT_EQ(journal.entries.at("command/cmd-1"), "B 1 99999999999999999\n" + later);
}

TEST(NewerEntries, ACommandInAStateThatIsNotKnownIsNotDoneAgain) {
    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    KeptJournal journal;
    const std::string entry = "P 41 99999999999999999\nwhatever a newer agent keeps here";
    journal.entries["command/cmd-1"] = entry;
    CommandBook book{journal, timers};
    book.load();
    EXPECT_TRUE(book.unfinished().empty());
    EXPECT_TRUE(book.unacknowledged().empty());
    const auto admission = run(loop, book.admit(stop("cmd-1")));
    ASSERT_TRUE(admission);
    EXPECT_FALSE(admission->begin);
    ASSERT_TRUE(admission->answer);
    EXPECT_EQ(admission->answer->reason(), "newer_agent");
    ASSERT_TRUE(run(loop, book.sweep()));
    EXPECT_EQ(journal.entries.at("command/cmd-1"), entry);
    ASSERT_TRUE(run(loop, book.admit(stop("cmd-2"))));
    EXPECT_TRUE(journal.entries.at("command/cmd-2").starts_with("B 42 ")) << "it is behind that one";
}

}  // namespace
}  // namespace hostler::agent
