#include "roles/access/remembered.h"

#include <gtest/gtest.h>

#include "core/testing/run.h"

namespace hostler::access {
namespace {

using hostler::testing::run;

class FlakyJournal : public Journal {
public:
    const std::map<std::string, std::string>& all() const override { return entries; }
    Task<> put_all(std::vector<Entry> given) override {
        if (full) co_return fail(Code::exhausted, "the disk is full");
        for (auto& [key, value] : given) entries[key] = value;
        co_return Result<>{};
    }
    Task<> erase(std::string key) override {
        entries.erase(key);
        co_return Result<>{};
    }
    std::map<std::string, std::string> entries;
    bool full = false;
};

TEST(Remembered, OverARestartAndNeverLower) {
    Loop loop;
    FlakyJournal journal;
    {
        Remembered remembered{journal};
        ASSERT_TRUE(run(loop, remembered.raise(5)));
        ASSERT_TRUE(run(loop, remembered.raise(3)));
        remembered.revoke("h-1");
        ASSERT_TRUE(run(loop, remembered.write()));
    }
    const Remembered again{journal};
    EXPECT_EQ(again.epoch(), 5U);
    EXPECT_TRUE(again.revoked("h-1"));
    EXPECT_FALSE(again.revoked("h-2"));
}

TEST(Remembered, AFullDiskRefusesTheHostAllTheSameAndIsTriedAgain) {
    Loop loop;
    FlakyJournal journal{};
    journal.full = true;
    Remembered remembered{journal};
    remembered.revoke("h-1");
    EXPECT_FALSE(run(loop, remembered.write()));
    EXPECT_TRUE(remembered.revoked("h-1"));
    EXPECT_FALSE(run(loop, remembered.raise(5)));
    EXPECT_EQ(remembered.epoch(), 0U);
    journal.full = false;
    remembered.revoke("h-1");  // The master says it again at its next hello.
    EXPECT_TRUE(run(loop, remembered.write()));
    EXPECT_TRUE(journal.entries.contains("revoked/h-1"));
}

TEST(Remembered, LeavesAloneWhatANewerReleaseWrote) {
    Loop loop;
    FlakyJournal journal;
    journal.entries = {{"warp/1", "x"}, {"revoked-until/h-9", "7"}};
    {
        Remembered remembered{journal};
        EXPECT_FALSE(remembered.revoked("h-9"));
        ASSERT_TRUE(run(loop, remembered.raise(5)));
        remembered.revoke("h-1");
        ASSERT_TRUE(run(loop, remembered.write()));
    }
    EXPECT_EQ(journal.entries.at("warp/1"), "x");
    EXPECT_EQ(journal.entries.at("revoked-until/h-9"), "7");
}

}  // namespace
}  // namespace hostler::access
