#include "adapters/docker/log_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "adapters/docker/held_logs.h"
#include "core/testing/temp_folder.h"

namespace hostler::docker {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t much = 64 << 20;
const WallTime at = *parse_rfc3339("2026-11-21T11:40:29Z");

std::string k8s(int second, std::string_view text) {
    const bool ends = text.ends_with('\n');
    return fmt::format("{}.123456789+01:00 stdout {} {}{}",
                       rfc3339(at + std::chrono::seconds{second} + 1h).substr(0, 19), ends ? 'F' : 'P', text,
                       ends ? "" : "\n");
}

std::string big_endian(std::size_t size) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
    return bytes;
}

std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 0x80);
    return bytes + static_cast<char>(value);
}

// As dockerd's driver `local` writes it.
std::string local(int second, std::string_view line, bool partial = false, bool last = false) {
    const auto nanoseconds = std::chrono::nanoseconds{(at + std::chrono::seconds{second}).time_since_epoch()};
    std::string message = "\x0a\x06stdout\x10" + varint(static_cast<std::uint64_t>(nanoseconds.count())) +
                          "\x1a" + varint(line.size()) + std::string{line};
    if (partial) {
        const std::string of_partial =
            (last ? std::string{"\x08\x01"} : std::string{}) + "\x12\x02id\x18\x01";
        message += "\x20\x01\x2a" + varint(of_partial.size()) + of_partial;
    }
    return big_endian(message.size()) + message + big_endian(message.size());
}

class LogFiles : public ::testing::Test {
protected:
    void write(const std::string& name, std::string_view bytes) {
        std::ofstream{path(name), std::ios::app | std::ios::binary} << bytes;
    }
    std::string path(const std::string& name) { return folder.path() + "/" + name; }
    LogFile of_podman(WallTime container = {}) { return {LogFormat::k8s, path("ctr.log"), container}; }
    LogFile of_docker() { return {LogFormat::local, path("container.log"), {}}; }
    std::string text(const LogFile& file, LogsWanted wanted = {.bytes_max = much}) {
        const auto log = read_log(file, wanted);
        EXPECT_TRUE(log) << log.error().message;
        return log ? text_of(log_pieces(log->pieces)) : "";
    }
    hostler::testing::TempFolder folder;
};

TEST_F(LogFiles, OfPodmanAreReadFromTheEnd) {
    std::string expected, log;
    for (int i = 0; i < 100'000; ++i) {
        expected += fmt::format("{}\n", i);
        log += k8s(i / 1000, fmt::format("{}\n", i));
    }
    write("ctr.log",
          log + k8s(100, "10%\r") + k8s(101, "20%\r\xff") + "2026-11-21T11:40:31Z stdout F half wri");
    EXPECT_TRUE(text(of_podman()) == expected + "10%\r20%\r\xff");
    EXPECT_EQ(text(of_podman(), {.bytes_max = much, .lines_max = 2}), "99999\n10%\r20%\r\xff");
    const auto last = *read_log(of_podman(), {.bytes_max = much, .lines_max = 1});
    EXPECT_EQ(last.next, (LogPlace{at + 101s + 123456us, 1}));
    EXPECT_EQ(text(of_podman(), {.bytes_max = much, .since = at + 100s}), "10%\r20%\r\xff");
    // A thousand lines have this time, and more than one window holds.
    const auto behind = *read_log(
        of_podman(), {.bytes_max = much, .lines_max = 400, .after = LogPlace{at + 98s + 123456us, 500}});
    EXPECT_EQ(log_pieces(behind.pieces).front().text, "98500\n");
    EXPECT_EQ(behind.next, (LogPlace{at + 98s + 123456us, 900}));
}

TEST_F(LogFiles, OfDockerAreReadFromTheEndAndOverTheOneBefore) {
    std::string expected, before, log;
    for (int i = 0; i < 20'000; ++i) {
        expected += fmt::format("{}\n", i);
        (i < 10'000 ? before : log) += local(i / 1000, fmt::format("{}", i));
    }
    write("container.log.1", before);
    write("container.log",
          log + local(20, "a long ", true) + local(20, "\xff line", true, true) + local(21, "no end", true));
    EXPECT_TRUE(text(of_docker()) == expected + "a long \xff line\nno end");
    EXPECT_EQ(text(of_docker(), {.bytes_max = much, .lines_max = 3}), "19999\na long \xff line\nno end");
    // What is being written is not there yet.
    write("container.log", local(22, "half").substr(0, 20));
    EXPECT_EQ(text(of_docker(), {.bytes_max = much, .lines_max = 1}), "no end");
}

TEST_F(LogFiles, WhatIsNoLogIsRefused) {
    EXPECT_EQ(read_log(of_podman(), {.bytes_max = much}).error().code, Code::not_found);
    write("ctr.log", "");
    EXPECT_EQ(text(of_podman()), "");
    write("ctr.log", std::string(5000, 'x'));
    EXPECT_EQ(read_log(of_podman(), {.bytes_max = much}).error().code, Code::unavailable);
    write("container.log", std::string(5000, '\xff'));
    EXPECT_EQ(read_log(of_docker(), {.bytes_max = much}).error().code, Code::unavailable);
}

// As conmon does it.
TEST_F(LogFiles, OnesThatPodmanBeginsAnewAreHeld) {
    HeldLogs held, of_another_agent;
    write("ctr.log", k8s(0, "0\n"));
    held.hold(path("ctr.log"));
    of_another_agent.hold(path("ctr.log"));
    std::string expected = "0\n";
    for (int i = 1; i < 50; ++i) {
        write("ctr.log.tmp", k8s(i, fmt::format("{}\n", i)));
        std::filesystem::rename(path("ctr.log.tmp"), path("ctr.log"));
        const auto patience = std::chrono::steady_clock::now() + 10s;
        while (!std::filesystem::equivalent(path("ctr.log"), held_path(path("ctr.log")))) {
            ASSERT_LT(std::chrono::steady_clock::now(), patience);
            std::this_thread::sleep_for(1ms);
        }
        EXPECT_EQ(text(of_podman()), fmt::format("{}\n{}\n", i - 1, i));
    }
    held.hold(path("ctr.log"));
    EXPECT_EQ(text(of_podman()), "48\n49\n") << "holding again changes nothing";
}

TEST_F(LogFiles, AFileThatIsYoungerThanItsContainerIsNotTheFirst) {
    write("ctr.log", k8s(0, "0\n"));
    const auto now =
        std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    EXPECT_TRUE(read_log(of_podman(now - 1h), {.bytes_max = much})->truncated);
    EXPECT_FALSE(read_log(of_podman(now + 1h), {.bytes_max = much})->truncated);
}

}  // namespace
}  // namespace hostler::docker
