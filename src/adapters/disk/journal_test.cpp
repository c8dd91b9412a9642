#include "adapters/disk/journal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "adapters/disk/journal_records.h"
#include "core/log.h"
#include "core/testing/real_timers.h"

namespace hostler::disk {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
TEST_F(JournalFile, WhatIsPastLeavesTheFileWhenThatIsAskedFor) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("a", "the first word")));
    ASSERT_TRUE(run(journal->put("a", "the second")));
    ASSERT_TRUE(run(journal->put("b", "erased")));
    ASSERT_TRUE(run(journal->erase("b")));
    EXPECT_THAT(bytes(), HasSubstr("the first word"));
    ASSERT_TRUE(run(journal->forget_past()));
    EXPECT_THAT(bytes(), ::testing::Not(HasSubstr("the first word")));
    EXPECT_THAT(bytes(), ::testing::Not(HasSubstr("erased")));
    ASSERT_TRUE(run(journal->put("c", "after it")));
    ASSERT_TRUE(run(journal->forget_past())) << "as often as one likes";
    journal.reset();
    EXPECT_THAT(open()->all(), ElementsAre(Pair("a", "the second"), Pair("c", "after it")));
}

TEST_F(JournalFile, ATailTornAtAnyByteIsCutOff) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("kept", "value")));
    const auto before = bytes();
    ASSERT_TRUE(run(journal->put("torn", "another value")));
    const auto after = bytes();
    journal.reset();
    for (std::size_t size = before.size(); size < after.size() - journal_mark_bytes; ++size) {
        write(after.substr(0, size));
        auto opened = open();
        ASSERT_TRUE(opened);
        EXPECT_EQ(opened->damage(), "");
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
        EXPECT_EQ(opened->damage(), "");
        const auto& all = opened->all();
        EXPECT_GE(all.size(), seen) << size;
        seen = all.size();
        EXPECT_EQ(all.contains("b"), seen >= 2) << size;
        EXPECT_EQ(all.contains("c"), seen >= 3) << size;
    }
    EXPECT_EQ(seen, 3U);
}

// Pages reach the disk in any order. Nobody was told that it is durable: it is as if never begun, and so is
// what was written with it.
TEST_F(JournalFile, ATailOfOtherBytesIsCutOff) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("kept", "value")));
    const auto before = bytes();
    ASSERT_TRUE(run(journal->put_all({{"torn", "another value"}, {"behind", "it"}})));
    const auto after = bytes();
    journal.reset();
    const std::size_t end = after.size() - journal_mark_bytes;
    for (std::size_t at = before.size(); at < after.find("another value"); ++at) {
        auto changed = after.substr(0, end);
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        write(changed);
        const auto opened = open();
        EXPECT_THAT(opened->all(), ElementsAre(Pair("kept", "value"))) << at;
        EXPECT_EQ(opened->damage(), "");
    }
    write(before + std::string(4096, '\0'));  // What some file systems leave after a crash.
    EXPECT_THAT(open()->all(), ElementsAre(Pair("kept", "value")));
}

// What was cut off must not come back when a later record fills its place.
TEST_F(JournalFile, WhatFollowsATornRecordDoesNotComeBack) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("kept", "value")));
    const auto first = bytes().size();
    ASSERT_TRUE(run(journal->put_all({{"torn", "12345"}, {"behind", "it"}})));
    auto content = bytes();
    journal.reset();
    content[first + 10] = 'x';
    write(content.substr(0, content.size() - journal_mark_bytes));
    journal = open();
    EXPECT_THAT(journal->all(), ElementsAre(Pair("kept", "value")));
    ASSERT_TRUE(run(journal->put("same", "54321")));  // As long as the torn one.
    journal.reset();
    EXPECT_THAT(open()->all(), ElementsAre(Pair("kept", "value"), Pair("same", "54321")));
}

// ── What the disk has changed since

TEST_F(JournalFile, AByteThatChangedCostsOneRecordAndIsTold) {
    set_log_sink([](Level, std::string_view) {});  // It is told 199 times.
    auto journal = open();
    std::map<std::string, std::string> all;
    for (int i = 0; i < 200; ++i) {
        const auto key = fmt::format("command/{:03}", i);
        all[key] = fmt::format("its answer {}", std::string(i % 50, 'x'));
        ASSERT_TRUE(run(journal->put(key, all[key])));
    }
    const auto whole = bytes();
    journal.reset();
    for (std::size_t n = 0; n < 200; ++n) {
        const std::size_t at = journal_magic.size() + n * (whole.size() - journal_magic.size()) / 200;
        auto changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ (1 << n % 8));
        write(changed);
        const auto opened = open();
        ASSERT_TRUE(opened);
        EXPECT_GE(opened->all().size(), all.size() - 1) << at;
        EXPECT_TRUE(std::ranges::includes(all, opened->all())) << at;
        // The last mark guards nothing, and is written again.
        if (at < whole.size() - journal_mark_bytes) {
            EXPECT_THAT(opened->damage(), HasSubstr(path_)) << at;
            std::ifstream copy{path_ + ".damaged", std::ios::binary};
            EXPECT_EQ(std::string(std::istreambuf_iterator<char>(copy), {}), changed);
        }
    }
    set_log_sink(nullptr);
    EXPECT_EQ(open()->damage(), "") << "it is told once";
}

TEST_F(JournalFile, OneCutAnywhereLosesNothingBeforeIt) {
    auto journal = open();
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(run(journal->put(fmt::format("{:03}", i), "answer")));
    const auto whole = bytes();
    journal.reset();
    for (std::size_t n = 1; n < 200; ++n) {
        const std::size_t size = whole.size() * n / 200;
        write(whole.substr(0, size));
        const auto opened = open();
        ASSERT_TRUE(opened);
        const std::size_t one = (whole.size() - journal_magic.size() - journal_mark_bytes) / 50;
        EXPECT_GE(opened->all().size() + 1,
                  (size - std::min(size, journal_magic.size() + journal_mark_bytes)) / one);
    }
}

// A tenant who has what looks like a mark written does not lead the reader into his own bytes.
TEST_F(JournalFile, AValueThatLooksLikeRecordsIsNotReadAsSome) {
    auto journal = open();
    ASSERT_TRUE(run(journal->put("first", "value")));
    const std::size_t begin = bytes().size() + 8 + 5 + 6;
    std::string forged;
    add_mark(forged, {.place = begin, .durable = begin, .salt = 1});
    const std::string granted = "all";
    add_record(forged, "epoch", &granted);
    ASSERT_TRUE(run(journal->put("tenant", forged)));
    ASSERT_TRUE(run(journal->put("last", "value")));
    auto changed = bytes();
    ASSERT_EQ(changed.find(forged), begin);
    journal.reset();
    changed[begin - 19] ^= 0x01;  // Its length.
    write(changed);
    EXPECT_THAT(open()->all(), ElementsAre(Pair("first", "value"), Pair("last", "value")));
}

// As a release before marks wrote it; and it reads what this one writes.
TEST_F(JournalFile, OneWithoutMarksIsReadAndWrittenAgainWithSome) {
    std::string old{journal_magic};
    const std::string value = "1";
    add_record(old, "a", &value);
    add_record(old, "b", &value);
    add_record(old, "b", nullptr);
    write(old);
    EXPECT_THAT(open()->all(), ElementsAre(Pair("a", "1")));
    EXPECT_TRUE(read_journal(bytes()).marked);
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
