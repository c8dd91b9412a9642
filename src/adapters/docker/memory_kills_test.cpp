// What the kernel tells of processes that it killed for want of memory.
#include "adapters/docker/memory_kills.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "adapters/docker/processes.h"
#include "core/testing/temp_folder.h"

namespace hostler::docker {
namespace {

const std::string id(64, 'a');

TEST(MemoryKills, AreCountedInTheContainersOwnGroup) {
    const std::string root = "/sys/fs/cgroup";
    EXPECT_EQ(kills_file("0::/machine.slice/libpod-" + id + ".scope/container\n", id, root),
              root + "/machine.slice/libpod-" + id + ".scope/memory.events");
    EXPECT_EQ(kills_file("12:cpuset:/x\n4:memory:/docker/" + id + "\n0::/docker/" + id + "/init\n", id, root),
              root + "/memory/docker/" + id + "/memory.oom_control")
        << "the memory of both kinds is with the old one";
    EXPECT_EQ(kills_file("5:hugetlb,memory:/docker/" + id, id, root),
              root + "/memory/docker/" + id + "/memory.oom_control");
    for (const std::string& other :
         std::vector<std::string>{"0::/docker/" + std::string(64, 'b'), "0::/../" + id, std::string{"0::/"},
                                  std::string{""}, std::string{"0"}, "4:cpu,memory2:/docker/" + id, ":" + id})
        EXPECT_EQ(kills_file(other, id, root), "") << other;
    EXPECT_EQ(kills_file("0::/docker/x", "", root), "");
}

TEST(MemoryKills, AreReadOfEitherKindOfGroup) {
    const testing::TempFolder folder;
    const std::string file = folder.path() + "/count";
    const auto read = [&](std::string_view text) {
        std::ofstream{file} << text;
        return kills_in(file);
    };
    EXPECT_EQ(read("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 9\n"), 2U);
    EXPECT_EQ(read("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"), 1U);
    EXPECT_EQ(read("oom_kill_disable 0\nunder_oom 0\n"), std::nullopt) << "a kernel before 4.13";
    EXPECT_EQ(read("oom_kill -1\n"), std::nullopt);
    EXPECT_EQ(kills_in(folder.path() + "/none"), std::nullopt);
}

// The file stands for the log: one read gives all of it, so that it has one record.
std::string name_in(const std::string& record) {
    const testing::TempFolder folder;
    const std::string log = folder.path() + "/kmsg";
    std::ofstream{log} << record;
    const std::vector<std::string> ids{id, std::string(64, 'b')};
    const auto names = killed_for_memory(log, ids);
    EXPECT_FALSE(names.contains(ids[1]));
    return names.contains(id) ? names.at(id) : "(none)";
}

TEST(MemoryKills, HaveTheNameThatTheKernelsLogTells) {
    const std::string begin =
        "6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
        "oom_memcg=/libpod_parent/libpod-" +
        id;
    const auto named = [&](const std::string& name) {
        return name_in(
            fmt::format("{},task_memcg=/libpod_parent/libpod-{},task={},pid=42,uid=0\n", begin, id, name));
    };
    EXPECT_EQ(named("python3"), "python3");
    EXPECT_EQ(named("a,task=b,pid=7"), "a,task=b,pid=7");
    EXPECT_EQ(named("\\xe2\\x98\\x83 \\x5c"), "\xe2\x98\x83 \\");
    EXPECT_EQ(named("\\xg1\\x"), "\\xg1\\x");
    EXPECT_EQ(named(""), "");
    EXPECT_EQ(name_in(begin + ",task=x"), "") << "a line that was cut";
    EXPECT_EQ(name_in("6,1,2,-;Killed process 42 (python3) in " + id), "(none)");
    EXPECT_EQ(killed_for_memory("/nowhere/kmsg", std::vector{id}).size(), 0U);
}

TEST(Listening, IsReadFromTheKernelsTables) {
    using Addresses = std::vector<std::string>;
    const std::string head = "  sl  local_address rem_address   st tx_queue rx_queue tr\n";
    const std::string four =
        head +
        "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 0 0 0 1134\n"
        "   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 0 0 0 1135\n"
        "   2: 0503C90A:1F90 0100C90A:C350 01 00000000:00000000 00:00000000 0 0 0 1136\n";
    EXPECT_EQ(listening_in(four, 8080), Addresses{"127.0.0.1"});
    EXPECT_EQ(listening_in(four, 22), Addresses{"0.0.0.0"});
    EXPECT_EQ(listening_in(four, 80), Addresses{});
    const std::string six =
        head +
        "   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0\n"
        "   1: 00000000000000000000000000000000:1F91 00000000000000000000000000000000:0000 0A 0:0\n"
        "   2: 0000000000000000FFFF00000100007F:1F92 00000000000000000000000000000000:0000 0A 0:0\n";
    EXPECT_EQ(listening_in(six, 8080), Addresses{"::1"});
    EXPECT_EQ(listening_in(six, 8081), Addresses{"::"});
    EXPECT_EQ(listening_in(six, 8082), Addresses{"127.0.0.1"});
    for (const char* torn : {"", "\n", "   0: 0100007F", "   0: 0100007F:1F90 00000000:0000",
                             "  0: 0100007F1F90 0:0 0A", "  0: 01007F:1F90 0:0 0A", "  0: :1F90 0:0 0A"})
        EXPECT_EQ(listening_in(torn, 8080), Addresses{}) << torn;
}

}  // namespace
}  // namespace hostler::docker
