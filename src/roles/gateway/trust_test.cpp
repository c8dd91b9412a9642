#include "roles/gateway/trust.h"

#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/run.h"

namespace hostler::gateway {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using Belief = Trust::Belief;

class MemoryJournal final : public Journal {
public:
    const std::map<std::string, std::string>& all() const override { return entries; }
    Task<> put_all(std::vector<Entry> more) override {
        if (full) co_return fail(Code::exhausted, "the disk is full");
        for (auto& [key, value] : more) entries[key] = value, ++puts;
        co_return Result<>{};
    }
    Task<> erase(std::string key) override {
        entries.erase(key);
        co_return Result<>{};
    }
    std::map<std::string, std::string> entries;
    int puts = 0;
    bool full = false;
};

struct Digits final : Digest {
    std::string sha256(std::string_view text) const override {
        return std::to_string(std::hash<std::string_view>{}(text));
    }
};

struct TrustTest : ::testing::Test {
    TrustTest() { begin(); }
    void begin(std::size_t size_max = 3) { trust.emplace(journal, digest, size_max, hours{12}, now); }
    void write() { (void)hostler::testing::try_run(loop, trust->run(timers)); }
    std::vector<std::string> end(std::vector<std::string> marks) {
        std::vector<std::string> credentials;
        trust->end(marks, [&](const Question& question) { credentials.push_back(question.credential); });
        return credentials;
    }
    static Standing standing(std::string principal) { return {.principal = std::move(principal)}; }

    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    MemoryJournal journal;
    Digits digest;
    WallTime now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
    std::optional<Trust> trust;
    const Question mine{"hk_mine", "t-a", ""};
    const Question session{"hs_mine", "t-a", "80-i-1"};
};

TEST_F(TrustTest, LastsForTheOutageAndNoLonger) {
    EXPECT_EQ(trust->believes(mine, now), Belief::unknown);
    trust->keep(mine, standing("key/k-1"), now);
    EXPECT_EQ(trust->believes(mine, now + hours{12} - seconds{1}), Belief::yes);
    EXPECT_EQ(trust->believes(mine, now + hours{12}), Belief::ended);
    EXPECT_EQ(trust->believes({"hk_mine", "t-b", ""}, now), Belief::unknown) << "another tenant's";
    EXPECT_EQ(trust->believes({"hk_mine", "t-a", "80-i-1"}, now), Belief::unknown);
}

TEST_F(TrustTest, NeverOutlivesTheCredential) {
    trust->keep(mine, {.principal = "key/k-1", .ends = hours{1}}, now);
    EXPECT_EQ(trust->believes(mine, now + hours{1} - seconds{1}), Belief::yes);
    EXPECT_EQ(trust->believes(mine, now + hours{1}), Belief::ended);
    write();
    begin();
    EXPECT_EQ(trust->believes(mine, now + hours{1} - seconds{1}), Belief::yes);
    EXPECT_EQ(trust->believes(mine, now + hours{1}), Belief::ended) << "nor after a restart";
    trust->keep(mine, {.principal = "key/k-1", .ends = seconds{1}}, now);
    write();
    begin();
    EXPECT_EQ(trust->believes(mine, now + seconds{1}), Belief::ended) << "a shorter end is written at once";
}

TEST_F(TrustTest, WhatEndsTakesWithItWhatStoodOnIt) {
    trust->keep(mine, standing("key/k-1"), now);
    trust->keep(session, {.principal = "key/k-1", .marks = {"session/s"}}, now);
    trust->keep({"hk_other", "t-a", ""}, standing("key/k-2"), now);
    EXPECT_EQ(trust->marks(), (std::vector<std::string>{"key/k-1", "key/k-2", "session/s"}));
    EXPECT_EQ(end({"session/s"}), std::vector<std::string>{"hs_mine"});
    EXPECT_EQ(trust->believes(session, now), Belief::unknown);
    EXPECT_EQ(trust->believes(mine, now), Belief::yes);
    EXPECT_EQ(end({"key/k-1", "key/k-9"}), std::vector<std::string>{"hk_mine"});
    EXPECT_EQ(trust->size(), 1u);
}

TEST_F(TrustTest, IsKeptOverARestartWithoutSecrets) {
    trust->keep(mine, standing("key/k-1"), now);
    trust->keep(session, {.principal = "key/k-1", .marks = {"session/s"}}, now);
    trust->keep({"hk_gone", "t-a", ""}, standing("key/k-2"), now);
    write();
    trust->forget({"hk_gone", "t-a", ""});
    trust->forget_credential("hs_mine");
    write();
    for (const auto& [key, value] : journal.entries)
        EXPECT_EQ((key + value).find("hk_"), std::string::npos) << key;
    EXPECT_EQ(journal.entries.size(), 1u);
    begin();
    EXPECT_EQ(trust->believes(mine, now), Belief::yes);
    EXPECT_EQ(trust->believes(session, now), Belief::unknown);
    EXPECT_TRUE(end({"key/k-1"}).empty()) << "nobody has shown it since";
    EXPECT_EQ(trust->believes(mine, now), Belief::unknown);
    write();
    EXPECT_TRUE(journal.entries.empty());
}

TEST_F(TrustTest, OfAnAddressIsForItAloneAlsoAfterARestart) {
    const Question here{"hk_mine", "t-a", "", "lab", "203.0.113.7"};
    const Question there{"hk_mine", "t-a", "", "lab", "[2001:db8::1]"};
    trust->keep(here, standing("key/k-1"), now);
    trust->keep(there, standing("key/k-1"), now);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(trust->believes(here, now), Belief::yes);
        EXPECT_EQ(trust->believes(there, now), Belief::yes);
        EXPECT_EQ(trust->believes(here.from_anywhere(), now), Belief::unknown);
        EXPECT_EQ(trust->believes({"hk_mine", "t-a", "", "", "203.0.113.7"}, now), Belief::unknown);
        write();
        begin();
    }
    trust->forget(there);
    EXPECT_EQ(trust->believes(there, now), Belief::unknown);
    EXPECT_EQ(trust->believes(here, now), Belief::yes);
    trust->forget_credential("hk_mine");
    EXPECT_EQ(trust->size(), 0u);
}

TEST_F(TrustTest, OfOneCredentialTakesTheAddressesThatItHadLast) {
    begin(1000);
    trust->keep(mine, standing("key/k-1"), now);
    const auto at = [](std::size_t number) {
        return Question{"hk_wide", "t-a", "", "", std::to_string(number)};
    };
    for (std::size_t i = 0; i < Trust::addresses_max + 10; ++i) {
        now += seconds{1};
        trust->keep(at(i), standing("key/k-2"), now);
    }
    EXPECT_EQ(trust->size(), Trust::addresses_max + 1);
    EXPECT_EQ(trust->believes(at(9), now), Belief::unknown);
    EXPECT_EQ(trust->believes(at(10), now), Belief::yes);
    EXPECT_EQ(trust->believes(at(Trust::addresses_max + 9), now), Belief::yes);
    EXPECT_EQ(trust->believes(mine, now), Belief::yes) << "and no place of others";
}

TEST_F(TrustTest, IsNotWrittenEachTime) {
    trust->keep(mine, standing("key/k-1"), now);
    write();
    for (int i = 0; i < 20; ++i) {
        now += seconds{15};
        trust->keep(mine, standing("key/k-1"), now);
        write();
    }
    EXPECT_EQ(journal.puts, 1);
    EXPECT_EQ(trust->believes(mine, now + hours{12} - seconds{1}), Belief::yes);
    now += hours{1};
    trust->keep(mine, standing("key/k-1"), now);
    write();
    EXPECT_EQ(journal.puts, 2);
}

TEST_F(TrustTest, WhatTheDiskRefusedIsWrittenAgainAndAsItIsByThen) {
    journal.full = true;
    TaskGroup group{loop};
    group.start("write", trust->run(timers));
    trust->keep(mine, standing("key/k-1"), now);
    trust->keep(session, standing("key/k-1"), now);
    timers.settle();
    EXPECT_TRUE(journal.entries.empty());
    trust->keep(mine, standing("key/k-2"), now);
    trust->forget(session);
    journal.full = false;
    timers.advance(seconds{5});
    EXPECT_EQ(journal.entries.size(), 1u);
    group.cancel();
    timers.settle();
    begin();
    EXPECT_EQ(trust->marks(), std::vector<std::string>{"key/k-2"});
    EXPECT_EQ(trust->believes(session, now), Belief::unknown);
}

TEST_F(TrustTest, IsBoundedAndWhatEndsFirstGoesFirst) {
    for (const char* credential : {"a", "b", "c"}) {
        trust->keep({credential, "t", ""}, standing(credential), now);
        now += seconds{1};
    }
    trust->keep({"a", "t", ""}, standing("a"), now);
    trust->keep({"d", "t", ""}, standing("d"), now);
    EXPECT_EQ(trust->size(), 3u);
    EXPECT_EQ(trust->believes({"b", "t", ""}, now), Belief::unknown);
    EXPECT_EQ(trust->believes({"a", "t", ""}, now), Belief::yes);
}

TEST_F(TrustTest, AClockThatIsPutBackProlongsNothing) {
    trust->keep(mine, standing("key/k-1"), now);
    write();
    now -= hours{100};
    begin();
    EXPECT_EQ(trust->believes(mine, now + hours{12}), Belief::ended);
}

}  // namespace
}  // namespace hostler::gateway
