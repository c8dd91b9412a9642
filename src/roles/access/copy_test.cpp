#include "roles/access/copy.h"

#include <gtest/gtest.h>

#include "core/testing/memory_stream.h"
#include "core/testing/run.h"

namespace hostler::access {
namespace {

using hostler::testing::memory_pair;
using hostler::testing::run;

class CopyTest : public ::testing::Test {
protected:
    CopyTest() {
        std::tie(left_, inner_left_) = memory_pair(1000);
        std::tie(right_, inner_right_) = memory_pair(1000);
        group_.start("copy", [](CopyTest& test) -> Task<> {
            co_await copy_both_ways(test.loop_, *test.inner_left_, *test.inner_right_, test.copied_);
            test.ended_ = true;
            co_return Result<>{};
        }(*this));
    }
    ~CopyTest() override {
        group_.cancel();
        settle();
    }
    void settle() {
        loop_.restart();
        while (loop_.poll() > 0) {
        }
    }
    std::string read(Stream& from, std::size_t size) {
        std::string into(size, '\0');
        EXPECT_TRUE(run(loop_, read_exactly(from, into)));
        return into;
    }

    Loop loop_;
    TaskGroup group_{loop_};
    std::unique_ptr<hostler::testing::MemoryStream> left_, inner_left_, right_, inner_right_;
    Copied copied_;
    bool ended_ = false;
};

TEST_F(CopyTest, BothWaysAndAHalfThatFinishesLeavesTheOther) {
    ASSERT_TRUE(run(loop_, write_all(*left_, "ping")));
    EXPECT_EQ(read(*right_, 4), "ping");
    ASSERT_TRUE(run(loop_, left_->finish()));
    settle();
    char one[1];
    EXPECT_EQ(run(loop_, read_some(*right_, one)), 0U);
    EXPECT_FALSE(ended_);
    ASSERT_TRUE(run(loop_, write_all(*right_, "late answer")));
    EXPECT_EQ(read(*left_, 11), "late answer");
    ASSERT_TRUE(run(loop_, right_->finish()));
    settle();
    EXPECT_TRUE(ended_);
    EXPECT_EQ(copied_.forth, 4U);
    EXPECT_EQ(copied_.back, 11U);
}

TEST_F(CopyTest, ReadsNoFasterThanTheOtherSideTakes) {
    inner_right_->write_max = 7;
    std::size_t sent = 0;
    const std::string piece(100, 'x');
    const asio::const_buffer buffer{piece.data(), piece.size()};
    for (int i = 0; i < 1000; ++i) {
        sent += left_->try_write({&buffer, 1})->value_or(0);
        settle();
    }
    EXPECT_LE(sent, 3000U);  // Three pipes' worth at the most: in, held, out.
    EXPECT_EQ(read(*right_, sent), std::string(sent, 'x'));
}

TEST_F(CopyTest, WhenOneBreaksBothEnd) {
    left_->close();
    settle();
    right_->close();
    settle();
    EXPECT_TRUE(ended_);
}

TEST_F(CopyTest, BreakingEndsTheOtherWithoutItsHelp) {
    ASSERT_TRUE(run(loop_, write_all(*right_, "x")));
    left_->close();
    settle();
    // What comes back has nowhere to go.
    (void)run(loop_, write_all(*right_, std::string(10, 'y')));
    settle();
    EXPECT_TRUE(ended_);
}

}  // namespace
}  // namespace hostler::access
