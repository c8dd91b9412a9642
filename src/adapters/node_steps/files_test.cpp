#include "adapters/node_steps/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/kernel_files.h"
#include "core/testing/temp_folder.h"

namespace hostler::node_steps {
namespace {

namespace fs = std::filesystem;

struct Files : ::testing::Test {
    std::string path(const std::string& name) const { return folder.path() + "/" + name; }
    std::optional<std::string> text(const std::string& name) const { return read_bytes(path(name), 1 << 20); }
    testing::TempFolder folder;
};

TEST_F(Files, TellWhetherTheyHaveChanged) {
    EXPECT_EQ(write_whole(path("a/b/config"), "one", 0640), true);
    EXPECT_EQ(text("a/b/config"), "one");
    EXPECT_EQ(write_whole(path("a/b/config"), "one", 0640), false);
    EXPECT_EQ(write_whole(path("a/b/config"), "one", 0600), true) << "another mode";
    struct stat facts{};
    ASSERT_EQ(::stat(path("a/b/config").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0600U);
    EXPECT_EQ(write_whole(path("a/b/config"), "two", 0600), true);
    EXPECT_EQ(std::distance(fs::directory_iterator{path("a/b")}, {}), 1) << "nothing else stays there";
}

TEST_F(Files, ALinkIsReplacedAndNotFollowed) {
    ASSERT_TRUE(write_whole(path("precious"), "mine", 0600));
    fs::create_symlink(path("precious"), path("config"));
    EXPECT_EQ(write_whole(path("config"), "mine", 0600), true) << "the same text, by a link";
    EXPECT_FALSE(fs::is_symlink(path("config")));
    EXPECT_EQ(write_whole(path("config"), "theirs", 0600), true);
    EXPECT_EQ(text("precious"), "mine");
}

TEST_F(Files, AFolderOfThatNameStays) {
    fs::create_directories(path("config/x"));
    const auto written = write_whole(path("config"), "words of a secret", 0600);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::conflict);
    EXPECT_EQ(written.error().message.find("words"), std::string::npos);
    EXPECT_TRUE(fs::exists(path("config/x")));
}

}  // namespace
}  // namespace hostler::node_steps
