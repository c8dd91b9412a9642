#include "adapters/remote_write/outbox.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/testing/temp_folder.h"

namespace hostler::remote_write {
namespace {

namespace fs = std::filesystem;

Message message(int number, std::size_t size = 10) {
    std::string body = std::to_string(number) + ":";
    body.resize(std::max(size, body.size()), 'x');
    return {body, 1, number};
}

class OutboxTest : public ::testing::Test {
protected:
    std::unique_ptr<Outbox> open(OutboxLimits limits = {}) { return Outbox::open(path(), limits).value(); }
    std::string path() const { return folder_.path() + "/out"; }
    static void put(Outbox& outbox, int from, int to, std::size_t size = 10) {
        for (int i = from; i < to; ++i) {
            const Message one[] = {message(i, size)};
            ASSERT_TRUE(outbox.append(one));
        }
    }
    // What comes out, by the numbers that stand for times; all of it is done then, or the first so many.
    static std::vector<series::Millis> taken(Outbox& outbox, int most = 1000) {
        std::vector<series::Millis> all;
        while (static_cast<int>(all.size()) < most) {
            const auto first = outbox.first().value();
            if (!first) break;
            EXPECT_EQ(first->body.substr(0, first->body.find(':')), std::to_string(first->newest));
            all.push_back(first->newest);
            EXPECT_TRUE(outbox.done());
        }
        return all;
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator{path()})
            if (entry.path().filename() != "cursor") all.push_back(entry.path());
        std::ranges::sort(all);
        return all;
    }
    static std::vector<series::Millis> numbers(int from, int to) {
        std::vector<series::Millis> all;
        for (int i = from; i < to; ++i) all.push_back(i);
        return all;
    }
    testing::TempFolder folder_;
};

TEST_F(OutboxTest, GivesInOrderWhatWasPutAndEachOnce) {
    const auto outbox = open({.file_bytes = 100});
    EXPECT_EQ(outbox->first().value(), std::nullopt);
    put(*outbox, 0, 10);
    EXPECT_EQ(outbox->first().value()->newest, 0);
    EXPECT_EQ(outbox->first().value()->newest, 0) << "until it is done";
    EXPECT_EQ(outbox->count().samples, 10U);
    EXPECT_EQ(taken(*outbox, 4), numbers(0, 4));
    put(*outbox, 10, 20);
    EXPECT_EQ(taken(*outbox), numbers(4, 20));
    EXPECT_EQ(outbox->count().samples, 0U);
    EXPECT_LE(files().size(), 1U) << "files that are done go";
    put(*outbox, 20, 21);
    EXPECT_EQ(taken(*outbox), numbers(20, 21));
}

TEST_F(OutboxTest, GoesOnWhereItWasAfterARestart) {
    for (int from = 0; from < 30; from += 10) {
        const auto outbox = open({.file_bytes = 100});
        EXPECT_EQ(outbox->count().samples, from == 0 ? 0U : 3U);
        put(*outbox, from, from + 10);
        EXPECT_EQ(taken(*outbox, from == 0 ? 7 : 10), numbers(from == 0 ? 0 : from - 3, from + 7));
    }
    const auto outbox = open();
    EXPECT_EQ(taken(*outbox), numbers(27, 30));
    EXPECT_EQ(outbox->count().damaged, 0U);
}

TEST_F(OutboxTest, ARecordThatACrashCutShortIsTakenOff) {
    for (const std::uintmax_t left : {1U, 23U, 24U, 30U}) {
        fs::remove_all(path());
        put(*open(), 0, 3);
        const fs::path file = files().at(0);
        const auto record = fs::file_size(file) / 3;
        fs::resize_file(file, 2 * record + left);
        const auto outbox = open();
        put(*outbox, 3, 5);
        EXPECT_EQ(taken(*outbox), (std::vector<series::Millis>{0, 1, 3, 4})) << left;
        EXPECT_EQ(outbox->count().damaged, 0U);
    }
}

TEST_F(OutboxTest, AChangedByteCostsWhatStandsBehindItInItsFile) {
    put(*open({.file_bytes = 100}), 0, 12);
    ASSERT_GE(files().size(), 3U);
    const fs::path file = files().at(0);
    const int in_file = static_cast<int>(fs::file_size(file) / 34);
    {
        std::fstream stream{file, std::ios::in | std::ios::out | std::ios::binary};
        stream.seekp(34 + 30);  // In the second record's body.
        stream.put('!');
    }
    const auto outbox = open({.file_bytes = 100});
    auto expected = numbers(in_file, 12);
    expected.insert(expected.begin(), 0);
    EXPECT_EQ(taken(*outbox), expected);
    EXPECT_EQ(outbox->count().damaged, 1U);
}

TEST_F(OutboxTest, AnUnreadableCursorMeansFromTheBeginning) {
    {
        const auto outbox = open();
        put(*outbox, 0, 5);
        EXPECT_EQ(taken(*outbox, 3), numbers(0, 3));
    }
    std::ofstream{path() + "/cursor"} << "";
    EXPECT_EQ(taken(*open()), numbers(0, 5));
}

TEST_F(OutboxTest, BeyondItsBoundTheOldestIsGivenUpAndCounted) {
    const OutboxLimits limits{.bytes_max = 10'000, .file_bytes = 1000};
    const auto outbox = open(limits);
    put(*outbox, 0, 5, 300);
    ASSERT_EQ(outbox->first().value()->newest, 0);
    put(*outbox, 5, 100, 300);
    EXPECT_LE(outbox->count().bytes, limits.bytes_max);
    const std::uint64_t dropped = outbox->count().samples_dropped;
    EXPECT_GT(dropped, 50U);
    EXPECT_EQ(outbox->count().samples + dropped, 100U);
    EXPECT_TRUE(outbox->done()) << "of one that was given up meanwhile";
    EXPECT_EQ(taken(*outbox), numbers(static_cast<int>(dropped), 100));
}

}  // namespace
}  // namespace hostler::remote_write
