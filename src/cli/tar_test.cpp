#include "cli/tar.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/unpack.h"
#include "core/testing/temp_folder.h"

namespace hostler::cli {
namespace {

namespace fs = std::filesystem;
using Kind = TarEntry::Kind;

std::string with_bytes(TarEntry entry, std::string_view bytes = {}) {
    entry.size = bytes.size();
    return tar_head(entry) + std::string{bytes} + std::string(tar_padding(bytes.size()), '\0');
}

std::string read(const fs::path& path) {
    std::ifstream in{path};
    return {std::istreambuf_iterator<char>{in}, {}};
}

class TarTest : public ::testing::Test {
protected:
    TarTest() { fs::create_directory(inside()); }
    std::string inside() const { return std::string{folder.path()} + "/in"; }
    Result<> unpack(const std::string& archive, std::size_t piece = 700) {
        told.clear();
        Unpacker unpacker{inside(), "a", "a", [&](std::string words) { told += words + "\n"; }};
        TarReader reader{unpacker.sink()};
        for (std::size_t at = 0; at < archive.size(); at += piece)
            TRY(reader.feed(archive.substr(at, piece)));
        return unpacker.finish();
    }
    hostler::testing::TempFolder folder;
    std::string told;
};

TEST_F(TarTest, WhatIsWrittenIsReadBack) {
    const std::string deep = "a/" + std::string(90, 'd') + "/" + std::string(150, 'f');
    const std::string archive = with_bytes({.kind = Kind::folder, .name = "a/", .mode = 0750}) +
                                with_bytes({.name = "a/x", .mode = 04755, .time = 1000}, "hello") +
                                with_bytes({.name = deep, .mode = 0600}, std::string(1024, 'y')) +
                                with_bytes({.kind = Kind::link, .name = "a/l", .link = "x", .mode = 0777}) +
                                with_bytes({.kind = Kind::hard_link, .name = "a/h", .link = "a/x"}) +
                                tar_end();
    for (const std::size_t piece : {1UL, 511UL, 512UL, 100'000UL}) {
        fs::remove_all(inside() + "/a");
        ASSERT_TRUE(unpack(archive, piece));
        EXPECT_EQ(read(inside() + "/a/x"), "hello");
        EXPECT_EQ(read(inside() + "/a/h"), "hello");
        EXPECT_EQ(read(inside() + "/" + deep), std::string(1024, 'y'));
        EXPECT_EQ(fs::read_symlink(inside() + "/a/l"), "x");
        struct stat facts{};
        ::stat((inside() + "/a/x").c_str(), &facts);
        EXPECT_EQ(facts.st_mode & 07777, 0755U) << "without set-user-id";
        EXPECT_EQ(facts.st_mtime, 1000);
        ::stat((inside() + "/a").c_str(), &facts);
        EXPECT_EQ(facts.st_mode & 07777, 0750U);
    }
}

TEST_F(TarTest, NothingGetsOut) {
    const std::string before = std::string{folder.path()} + "/outside";
    std::ofstream{before} << "mine";
    const auto refused = [&](const std::string& archive) {
        const auto done = unpack(archive + tar_end());
        return !done && done.error().reason == "path_escapes";
    };
    EXPECT_TRUE(refused(with_bytes({.name = "../outside", .mode = 0644}, "theirs")));
    EXPECT_TRUE(refused(with_bytes({.name = "a/../../outside", .mode = 0644}, "theirs")));
    EXPECT_TRUE(refused(with_bytes({.name = before, .mode = 0644}, "theirs")));
    EXPECT_TRUE(refused(with_bytes({.kind = Kind::hard_link, .name = "a/h", .link = "../outside"})));
    // A link that is there already, or that the archive makes, is not followed.
    fs::create_directory(inside() + "/a");
    fs::create_symlink("../..", inside() + "/a/up");
    EXPECT_TRUE(refused(with_bytes({.name = "a/up/outside", .mode = 0644}, "theirs")));
    ASSERT_TRUE(unpack(with_bytes({.kind = Kind::link, .name = "a/abs", .link = before}) +
                       with_bytes({.kind = Kind::link, .name = "a/rel", .link = "../../outside"}) +
                       tar_end()));
    EXPECT_FALSE(fs::is_symlink(inside() + "/a/abs"));
    EXPECT_FALSE(fs::is_symlink(inside() + "/a/rel"));
    EXPECT_NE(told.find("leads out"), std::string::npos);
    // A file in place of a link, not through it.
    fs::create_symlink(before, inside() + "/a/f");
    ASSERT_TRUE(unpack(with_bytes({.name = "a/f", .mode = 0644}, "theirs") + tar_end()));
    EXPECT_EQ(read(inside() + "/a/f"), "theirs");
    EXPECT_EQ(read(before), "mine");
}

TEST_F(TarTest, ZerosBecomeHoles) {
    std::string bytes(8 << 20, '\0');
    bytes[0] = 'a';
    bytes[(3 << 20) + 100] = 'b';
    for (const std::size_t piece : {700UL, 4096UL, 100'000UL, 10UL << 20}) {
        fs::remove_all(inside() + "/a");
        ASSERT_TRUE(unpack(with_bytes({.name = "a/sparse", .mode = 0644}, bytes) +
                               with_bytes({.name = "a/full", .mode = 0644}, std::string(1 << 20, 'x')) +
                               tar_end(),
                           piece));
        struct stat facts{};
        ASSERT_EQ(::stat((inside() + "/a/sparse").c_str(), &facts), 0);
        EXPECT_EQ(facts.st_size, 8 << 20);
        EXPECT_LE(facts.st_blocks * 512, 128 << 10) << "its holes take no room";
        EXPECT_TRUE(read(inside() + "/a/sparse") == bytes);
        EXPECT_TRUE(read(inside() + "/a/full") == std::string(1 << 20, 'x'));
    }
}

TEST_F(TarTest, ACopyEndsBeforeTheDiskIsFull) {
    Unpacker unpacker{inside(), "a", "a", [](std::string) {}};
    std::uint64_t looks = 0;
    unpacker.spare = [&](int) -> std::uint64_t { return ++looks < 2 ? 1 : 0; };
    const auto sink = unpacker.sink();
    ASSERT_TRUE(sink.begin({.name = "a/x", .mode = 0644, .size = 1ULL << 40}));
    const std::string zeros(1 << 20, '\0'), full(1 << 20, 'x');
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(sink.bytes(zeros));
    EXPECT_EQ(looks, 0u) << "holes are free";
    Result<> done;
    std::uint64_t taken = 0;
    for (; done && taken < 200; ++taken) done = sink.bytes(full);
    ASSERT_FALSE(done);
    EXPECT_EQ(taken << 20, 2 * copy_look_bytes);
    EXPECT_EQ(done.error().reason, "disk_full");
    EXPECT_NE(done.error().message.find("is nearly full"), std::string::npos) << done.error().message;
}

TEST_F(TarTest, WhatIsNoArchiveIsRefused) {
    EXPECT_FALSE(unpack(std::string(512, 'x')));
    std::string wrong = with_bytes({.name = "a/x", .mode = 0644}, "hello");
    wrong[0] = 'b';
    EXPECT_FALSE(unpack(wrong)) << "its sum is another";
}

}  // namespace
}  // namespace hostler::cli
