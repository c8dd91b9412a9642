#include "adapters/disk/logs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/task_group.h"

namespace hostler::disk {
namespace {

namespace fs = std::filesystem;

class Logs : public testing::Test {
protected:
    Logs() {
        std::string name = (fs::temp_directory_path() / "hostler-logs-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~Logs() override { fs::remove_all(folder_); }

    template <class T>
    Result<T> run(Task<T> task) {
        std::optional<Result<T>> answer;
        TaskGroup group{loop_};
        group.start("test", [](auto& into, Task<T> inner) -> Task<> {
            into.emplace(co_await std::move(inner));
            co_return Result<>{};
        }(answer, std::move(task)));
        loop_.restart();
        loop_.run();
        return std::move(*answer);
    }

    std::string folder_;
    Loop loop_;
    std::unique_ptr<Worker> worker_ = make_worker(loop_, "test");
};

TEST_F(Logs, KeptTextComesBackAlsoAfterARestart) {
    {
        auto store = *open_logs(*worker_, folder_ + "/logs");
        ASSERT_TRUE(run(store->keep("i-1", "one\ntwo\n")));
    }
    auto store = *open_logs(*worker_, folder_ + "/logs");
    EXPECT_EQ(run(store->read("i-1", 1000)), "one\ntwo\n");
    EXPECT_EQ(run(store->read("i-1", 4)), "two\n");
    EXPECT_EQ(run(store->read("i-2", 4)).error().code, Code::not_found);
    EXPECT_EQ(fs::status(folder_ + "/logs").permissions(), fs::perms::owner_all);
}

TEST_F(Logs, OnlyTheLastMebibyteIsKept) {
    auto store = *open_logs(*worker_, folder_);
    ASSERT_TRUE(run(store->keep("i-1", "first" + std::string(LogStore::text_max, 'x'))));
    EXPECT_EQ(run(store->read("i-1", 8 << 20)), std::string(LogStore::text_max, 'x'));
}

TEST_F(Logs, TheOldestGoFirst) {
    auto store = *open_logs(*worker_, folder_, {.files_max = 2, .age_max = std::chrono::hours{24}});
    const auto aged = [&](const std::string& name, int hours) {
        fs::last_write_time(folder_ + "/" + name + ".log",
                            fs::file_time_type::clock::now() - std::chrono::hours{hours});
    };
    ASSERT_TRUE(run(store->keep("i-1", "1")));
    aged("i-1", 2);
    ASSERT_TRUE(run(store->keep("i-2", "2")));
    aged("i-2", 1);
    ASSERT_TRUE(run(store->keep("i-3", "3")));
    EXPECT_FALSE(run(store->read("i-1", 9)));
    EXPECT_TRUE(run(store->read("i-2", 9)));
    aged("i-2", 25);
    ASSERT_TRUE(run(store->keep("i-3", "3")));
    EXPECT_FALSE(run(store->read("i-2", 9)));
}

TEST_F(Logs, ANameCannotLeadOut) {
    auto store = *open_logs(*worker_, folder_ + "/logs");
    EXPECT_EQ(run(store->keep("../evil", "x")).error().code, Code::invalid);
    EXPECT_EQ(run(store->keep("", "x")).error().code, Code::invalid);
    EXPECT_EQ(run(store->read("../logs_test", 9)).error().code, Code::not_found);
    EXPECT_FALSE(fs::exists(folder_ + "/evil.log"));
    fs::create_symlink("/etc/passwd", folder_ + "/logs/i-9.log");
    EXPECT_FALSE(run(store->read("i-9", 9)));
}

}  // namespace
}  // namespace hostler::disk
