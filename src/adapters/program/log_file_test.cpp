#include "adapters/program/log_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/testing/temp_folder.h"

namespace hostler::program {
namespace {

constexpr WallTime at(std::int64_t micros) { return WallTime{std::chrono::microseconds{micros}}; }

class LogFile : public ::testing::Test {
protected:
    LogPart read(LogsWanted wanted) {
        auto part = read_log(folder_.path(), wanted);
        EXPECT_TRUE(part);
        return part.value_or(LogPart{});
    }
    std::string text(LogsWanted wanted = {.bytes_max = 64 << 20}) {
        return text_of(log_pieces(read(wanted).pieces));
    }
    std::uintmax_t size() const {
        std::uintmax_t all = 0;
        for (const auto& file : std::filesystem::directory_iterator{folder_.path()}) all += file.file_size();
        return all;
    }

    testing::TempFolder folder_;
};

TEST_F(LogFile, IsReadByteForByte) {
    EXPECT_EQ(read_log(folder_.path(), {}).error().code, Code::not_found);
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    LogWriter writer{folder_.path(), 1 << 20};
    writer.write("one\ntw", at(1));
    writer.write("o\n\n\n", at(2));
    writer.write(bytes, at(3));
    EXPECT_EQ(text(), "one\ntwo\n\n\n" + bytes);
    const auto pieces = read({.bytes_max = 1 << 20}).pieces;
    EXPECT_EQ(log_pieces(pieces).front(), (LogPiece{at(1), "one\n"}));
    EXPECT_FALSE(read({.bytes_max = 1 << 20}).truncated);
}

TEST_F(LogFile, AClockThatIsSetBackChangesNoOrder) {
    LogWriter writer{folder_.path(), 1 << 20};
    writer.write("one\n", at(100));
    writer.write("two\n", at(50));
    const auto log = read({.bytes_max = 1 << 20}).pieces;
    EXPECT_EQ(log_pieces(log).back().time, at(100));
}

TEST_F(LogFile, KeepsAtLeastItsBoundAndAtMostTwice) {
    constexpr std::int64_t bound = 256 << 10;
    constexpr std::int64_t piece_most = 64 << 10;
    std::string all;
    {
        LogWriter writer{folder_.path(), bound};
        for (int i = 0; i < 60'000; ++i) {
            const auto line = fmt::format("line {}\n", i);
            all += line;
            writer.write(line, at(i));
            if (i % 1000 == 0) EXPECT_LE(size(), 2 * bound + 2 * piece_most);
        }
    }
    const auto part = read({.bytes_max = 64 << 20});
    EXPECT_TRUE(part.truncated);
    EXPECT_GE(static_cast<std::int64_t>(part.pieces.size()), bound);
    const auto kept = text();
    EXPECT_TRUE(all.ends_with(kept));
    EXPECT_TRUE(kept.starts_with("line "));
    EXPECT_EQ(text({.bytes_max = 64}), "line 59998\nline 59999\n");
    EXPECT_EQ(text({.bytes_max = 1 << 20, .lines_max = 1}), "line 59999\n");
    // Another writer continues where this one ended.
    LogWriter{folder_.path(), bound}.write("last\n", at(70'000));
    EXPECT_EQ(text({.bytes_max = 60}), "line 59999\nlast\n");
}

TEST_F(LogFile, UntilSomethingIsThrownAwayAllIsThere) {
    LogWriter writer{folder_.path(), 1 << 10};
    const std::string line(100, 'x');
    for (int i = 0; i < 12; ++i) writer.write(line + "\n", at(i));
    EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/log.old"));
    EXPECT_FALSE(read({.bytes_max = 1 << 20}).truncated);
    EXPECT_EQ(text().size(), 12U * 101);
    for (int i = 12; i < 40; ++i) writer.write(line + "\n", at(i));
    EXPECT_TRUE(read({.bytes_max = 1 << 20}).truncated);
}

TEST_F(LogFile, AReaderGoesOnWhereItStood) {
    LogWriter writer{folder_.path(), 4 << 10};
    std::string seen, all;
    LogPlace place{};
    for (int i = 0; i < 300; ++i) {
        const auto line = fmt::format("line {}\n", i);
        all += line;
        writer.write(line, at(i / 3));  // Several of one time.
        const auto part = read({.bytes_max = 1 << 20, .after = place});
        EXPECT_FALSE(part.truncated);
        seen += text_of(log_pieces(part.pieces));
        place = part.next;
    }
    EXPECT_EQ(seen, all);
}

}  // namespace
}  // namespace hostler::program
