#include "adapters/docker/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "core/testing/temp_folder.h"

namespace hostler::docker {
namespace {

using namespace std::chrono_literals;

class FileLock : public ::testing::Test {
protected:
    ~FileLock() override {
        ::close(one_);
        ::close(other_);
    }
    int open() const {
        return ::open((folder_.path() + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    testing::TempFolder folder_;
    int one_ = open(), other_ = open();
};

TEST_F(FileLock, OfAnotherThatDoesNotEndIsGivenUp) {
    ASSERT_TRUE(lock_within(one_, 0ms));
    EXPECT_FALSE(lock_within(other_, 50ms));
    EXPECT_EQ(errno, EWOULDBLOCK);
}

TEST_F(FileLock, IsTakenOnceTheOtherLetsGo) {
    ASSERT_TRUE(lock_within(one_, 0ms));
    std::thread other{[&] {
        std::this_thread::sleep_for(20ms);
        ::close(std::exchange(one_, -1));
    }};
    EXPECT_TRUE(lock_within(other_, 30s));
    other.join();
}

TEST_F(FileLock, OfNoFileIsAnError) {
    EXPECT_FALSE(lock_within(-1, 30s));
    EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace hostler::docker
