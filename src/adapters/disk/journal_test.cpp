#include "adapters/disk/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "core/log.h"
#include "core/testing/real_timers.h"

namespace hostler::disk {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::Pair;

class JournalFile : public ::testing::Test {
protected:
    JournalFile() {
        char folder[] = "/tmp/hostler-journal-XXXXXX";
        folder_ = ::mkdtemp(folder);
        path_ = (folder_ / "j").string();
        set_log_level(Level::error);
    }
    ~JournalFile() override {
        worker_.reset();
        set_log_level(Level::info);
        fs::remove_all(folder_);
    }
    std::unique_ptr<Journal> open(JournalLimits limits = {}) {
        auto opened = open_journal(*worker_, path_, limits);
        EXPECT_TRUE(opened) << opened.error().message;
        return opened ? std::move(*opened) : nullptr;
    }
    // Whatever the worker is still at ends first, and the loop hears of it.
    std::unique_ptr<Journal> open_anew(std::unique_ptr<Journal> journal, JournalLimits limits = {}) {
        journal.reset();
        worker_.reset();
        EXPECT_TRUE(run([]() -> Task<> { co_return Result<>{}; }()));
        worker_ = make_worker(loop_, "disk");
        return open(limits);
    }
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(loop_, std::move(task));
    }
    std::string bytes() const {
        std::ifstream file{path_, std::ios::binary};
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(std::string_view text) const {
        std::ofstream{path_, std::ios::binary | std::ios::trunc} << text;
    }

    Loop loop_;
    std::unique_ptr<Worker> worker_ = make_worker(loop_, "disk");
    fs::path folder_;
    std::string path_;
};

TEST_F(JournalFile, WhatWasPutIsThereAfterOpeningAgain) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("a", "1")));
    ASSERT_TRUE(run(journal->put("b", std::string("\0\n", 2))));
    ASSERT_TRUE(run(journal->put("a", "2")));
    ASSERT_TRUE(run(journal->put("c", "")));
    ASSERT_TRUE(run(journal->erase("c")));
    ASSERT_TRUE(run(journal->erase("never")));
    const auto expected = ElementsAre(Pair("a", "2"), Pair("b", std::string("\0\n", 2)));
    EXPECT_THAT(journal->all(), expected);
    journal.reset();
    EXPECT_THAT(open()->all(), expected);
}

// A write that the power cut short, at any byte: what was acknowledged before stays, the rest is as if never
// begun, and the journal goes on.
TEST_F(JournalFile, ATailTornAtAnyByteIsCutOff) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("kept", "value")));
    const auto before = bytes();
    ASSERT_TRUE(run(journal->put("torn", "another value")));
    const auto after = bytes();
    journal.reset();
    for (std::size_t size = before.size(); size < after.size(); ++size) {
        write(after.substr(0, size));
        auto opened = open();
        ASSERT_TRUE(opened);
        EXPECT_THAT(opened->all(), ElementsAre(Pair("kept", "value"))) << size;
        ASSERT_TRUE(run(opened->put("next", "x")));
        opened.reset();
        EXPECT_THAT(open()->all(), ElementsAre(Pair("kept", "value"), Pair("next", "x"))) << size;
    }
    for (std::size_t size = 0; size < journal_magic.size(); ++size) {
        write(after.substr(0, size));
        EXPECT_TRUE(open()->all().empty()) << size;
    }
}

// Of several that were put at once, the power leaves the first, each whole.
TEST_F(JournalFile, SeveralTornAtAnyByteLeaveTheFirstOfThem) {
    auto journal = open();
    const auto none = bytes().size();
    ASSERT_TRUE(run(journal->put_all({{"a", "1"}, {"b", "2"}, {"c", "3"}})));
    const auto after = bytes();
    journal.reset();
    std::size_t seen = 0;
    for (std::size_t size = none; size <= after.size(); ++size) {
        write(after.substr(0, size));
        const auto opened = open();
        ASSERT_TRUE(opened);
        const auto& all = opened->all();
        EXPECT_GE(all.size(), seen) << size;
        seen = all.size();
        EXPECT_EQ(all.contains("b"), seen >= 2) << size;
        EXPECT_EQ(all.contains("c"), seen >= 3) << size;
    }
    EXPECT_EQ(seen, 3U);
}

TEST_F(JournalFile, ATailOfOtherBytesIsCutOff) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("kept", "value")));
    const auto before = bytes();
    ASSERT_TRUE(run(journal->put("torn", "another value")));
    const auto after = bytes();
    journal.reset();
    for (std::size_t at = before.size(); at < after.size(); ++at) {
        auto changed = after;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        write(changed);
        EXPECT_THAT(open()->all(), ElementsAre(Pair("kept", "value"))) << at;
    }
    write(before + std::string(4096, '\0'));  // What some file systems leave after a crash.
    EXPECT_THAT(open()->all(), ElementsAre(Pair("kept", "value")));
}

// Pages reach the disk in any order: a whole record behind a torn one was never acknowledged, and must not
// come back when a later one fills the gap before it.
TEST_F(JournalFile, WhatFollowsATornRecordDoesNotComeBack) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("kept", "value")));
    const auto first = bytes().size();
    ASSERT_TRUE(run(journal->put("torn", "12345")));
    ASSERT_TRUE(run(journal->put("behind", "it")));
    auto content = bytes();
    journal.reset();
    content[first + 10] = 'x';
    write(content);
    journal = open();
    EXPECT_THAT(journal->all(), ElementsAre(Pair("kept", "value")));
    ASSERT_TRUE(run(journal->put("same", "54321")));  // As long as the torn one.
    journal.reset();
    EXPECT_THAT(open()->all(), ElementsAre(Pair("kept", "value"), Pair("same", "54321")));
}

TEST_F(JournalFile, WhatIsNoJournalIsRefusedAndLeftAlone) {
    write("something else entirely\n");
    const auto refused = open_journal(*worker_, path_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_EQ(bytes(), "something else entirely\n");
}

TEST_F(JournalFile, TwoDoNotShareIt) {
    const auto journal = open();
    const auto second = open_journal(*worker_, path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
}

TEST_F(JournalFile, ManyAtOnceShareASyncAndKeepTheirOrder) {
    auto journal = open();
    int done = 0;
    {
        TaskGroup group{loop_};
        for (int i = 0; i < 500; ++i) {
            group.start("put", [](Journal& to, int number, int& count) -> Task<> {
                CO_TRY(co_await to.put("key", std::to_string(number)));
                ++count;
                co_return Result<>{};
            }(*journal, i, done));
        }
        while (group.size() > 0) loop_.run_one();
    }
    EXPECT_EQ(done, 500);
    journal.reset();
    EXPECT_THAT(open()->all(), ElementsAre(Pair("key", "499")));
}

TEST_F(JournalFile, ItIsWrittenAnewWhenMostOfItIsPast) {
    auto journal = open({.waste_bytes_max = 4096});
    ASSERT_TRUE(run(journal->put("stays", "here")));
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(run(journal->put("changes", std::string(500, static_cast<char>('a' + i % 26)))));
    ASSERT_TRUE(run(journal->put("last", "")));  // Waits for the rewriting that is on its way.
    EXPECT_LT(bytes().size(), 8192U);
    const auto all = journal->all();
    journal.reset();
    EXPECT_EQ(open()->all(), all);
    EXPECT_FALSE(fs::exists(path_ + ".new"));
}

// A disk that has no room for a second file beside it, as one that is full: nothing is lost, and it is tried
// again.
TEST_F(JournalFile, WhatCannotBeWrittenAnewStaysAsItIsUntilItCan) {
    auto journal = open({.waste_bytes_max = 4096});
    ASSERT_TRUE(run(journal->put("stays", "here")));
    fs::create_directory(path_ + ".new");
    const auto change = [&](int number) {
        return run(journal->put("changes", std::string(500, static_cast<char>('a' + number % 26))));
    };
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(change(i)) << i;
    EXPECT_GT(bytes().size(), 40 * 500U) << "all of it is still there";
    auto all = journal->all();
    EXPECT_EQ(all.at("changes")[0], 'a' + 39 % 26);
    journal = open_anew(std::move(journal), {.waste_bytes_max = 4096});  // It is still trying.
    EXPECT_EQ(journal->all(), all);
    fs::remove(path_ + ".new");
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(change(i));  // The second waits for the rewriting.
    EXPECT_LT(bytes().size(), 8192U);
    all = journal->all();
    EXPECT_EQ(open_anew(std::move(journal))->all(), all);
}

TEST_F(JournalFile, LimitsHold) {
    auto journal = open({.value_bytes_max = 100, .bytes_max = 250});
    EXPECT_EQ(run(journal->put("", "x")).error().code, Code::invalid);
    EXPECT_EQ(run(journal->put("a", std::string(101, 'x'))).error().code, Code::invalid);
    ASSERT_TRUE(run(journal->put("a", std::string(100, 'x'))));
    ASSERT_TRUE(run(journal->put("b", std::string(100, 'x'))));
    EXPECT_EQ(run(journal->put("c", std::string(100, 'x'))).error().code, Code::exhausted);
    ASSERT_TRUE(run(journal->erase("a")));
    EXPECT_TRUE(run(journal->put("c", std::string(100, 'x'))));
}

// A full disk refuses a change, and loses nothing that was there; when there is room again, it goes on.
TEST_F(JournalFile, AFullDiskIsToldAndLeavesNoHalfRecord) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("kept", "value")));
    const auto size = bytes().size();
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{size + 100, old.rlim_max};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto refused = run(journal->put("big", std::string(5000, 'x')));
    ::setrlimit(RLIMIT_FSIZE, &old);
    ::signal(SIGXFSZ, SIG_DFL);
    ASSERT_FALSE(refused);
    EXPECT_EQ(bytes().size(), size);
    EXPECT_THAT(journal->all(), ElementsAre(Pair("kept", "value")));
    ASSERT_TRUE(run(journal->put("next", "x")));
    journal.reset();
    EXPECT_THAT(open()->all(), ElementsAre(Pair("kept", "value"), Pair("next", "x")));
}

}  // namespace
}  // namespace hostler::disk
