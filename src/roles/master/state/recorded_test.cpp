// Agents of releases, as they spoke: what tests/recorded keeps of them is said to the master as it is now.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "roles/master/instance/lifecycle.h"
#include "roles/master/testing/host_rig.h"

namespace hostler::master {
namespace {

// A frame a line, in hexadecimal digits.
std::vector<uplink::Frame> recorded_frames(const std::filesystem::path& path) {
    std::vector<uplink::Frame> frames;
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
        std::string bytes;
        for (std::size_t at = 0; at + 1 < line.size(); at += 2)
            bytes += static_cast<char>(std::stoi(line.substr(at, 2), nullptr, 16));
        HOSTLER_ASSERT(frames.emplace_back().ParseFromString(bytes));
    }
    return frames;
}

struct Recorded : ::testing::Test, testing::HostRig {
    Recorded() { run_term(); }  // Reports are answered once their samples are stored.
    // The commands that came to the host: start and stop.
    void take(wire::Link& link) {
        for (uplink::Frame frame = told(link); frame.body_case() != uplink::Frame::BODY_NOT_SET;
             frame = told(link)) {
            if (frame.has_agent_welcome()) ++welcomes;
            if (frame.has_report_ack()) ++reports;
            if (frame.has_command_ack()) ++acknowledged;
            if (frame.command().has_start_workload()) start = frame.command();
            if (frame.command().has_stop_workload()) stop = frame.command();
        }
    }
    int welcomes = 0, reports = 0, acknowledged = 0;
    uplink::Command start, stop;
};

TEST_F(Recorded, AHostOfEachReleaseJoinsStartsReportsAndStops) {
    int releases = 0;
    for (const auto& release : std::filesystem::directory_iterator{HOSTLER_RECORDED}) {
        SCOPED_TRACE(release.path());
        const auto frames = recorded_frames(release.path() / "agent.frames");
        ASSERT_FALSE(frames.empty());
        desk().estate.host_tokens.add({.id = "t-1",
                                       .hash = "#ht_once-only",
                                       .zone = "nj",
                                       .expires_at = desk().estate.micros() + 3'600'000'000});
        const std::string instance = started("one");
        const auto look = [&]() -> const Instance& { return term().look().estate.instances.at(instance); };
        (void)commit();
        wire::Link& link = access();
        up(link, 1, "");
        up(link, 2, look().host);
        int joined = 0, updates = 0, carried = 0;
        for (uplink::Frame frame : frames) {
            if (frame.has_join_request()) {
                EXPECT_NE(frame.join_request().csr().find("BEGIN CERTIFICATE REQUEST"), std::string::npos);
                frame.mutable_join_request()->set_csr(
                    "csr of the recorded");  // As the rig's authority has them.
                say(link, 1, frame);
                const uplink::Frame answer = told(link);
                EXPECT_EQ(answer.answer_to(), frame.call());
                joined += answer.join_answer().certificate().empty() ? 0 : 1;
                continue;
            }
            // Names of then in place of those of now.
            const bool stops = frame.command_update().id() == "c-2";
            if (stops && stop.id().empty()) {
                EXPECT_EQ(look().phase, InstancePhase::running) << "it runs before it is stopped";
                delete_instance(desk(), instance, "test");
                (void)commit();
                take(link);
                ASSERT_FALSE(stop.id().empty());
            }
            if (frame.has_command_update()) {
                ++updates;
                const uplink::Command& command = stops ? stop : start;
                ASSERT_FALSE(command.id().empty());
                frame.mutable_command_update()->set_id(command.id());
                auto& workload = *frame.mutable_command_update()->mutable_workload();
                workload.set_instance(instance);
                workload.set_generation(command.generation());
            }
            if (frame.has_report())
                for (auto& workload : *frame.mutable_report()->mutable_workloads()) {
                    workload.set_instance(instance);
                    workload.set_generation(start.generation());
                    ++carried;
                }
            say(link, 2, frame);
            take(link);
            if (frame.has_agent_hello()) {
                EXPECT_EQ(term().look().estate.hosts.at(look().host).facts.hostname,
                          frame.agent_hello().facts().hostname());
            }
        }
        EXPECT_EQ(joined, 1);
        EXPECT_EQ(welcomes, 1);
        EXPECT_GE(reports, 1);
        EXPECT_GE(carried, 1);
        EXPECT_GE(updates, 2);
        EXPECT_EQ(acknowledged, 2);
        EXPECT_EQ(look().phase, InstancePhase::stopped) << look().message;
        ++releases;
    }
    EXPECT_GT(releases, 0);
}

}  // namespace
}  // namespace hostler::master
