#include "program_rig.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/kernel_files.h"

namespace hostler::contract {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// Empty where there is none; a process may end while its file is read.
std::string text_of_file(const std::string& path) {
    return read_text(path, 64 << 10).value_or("");
}

}  // namespace

void ProgramTest::SetUp() {
    if (::geteuid() != 0) GTEST_SKIP() << "programs of other users need root";
    timers_ = std::make_unique<testing::RealTimers>(loop_);
    before_ = left();
    begin(settings());
    if (const auto limits = run(engine_->limits()); !limits) GTEST_SKIP() << limits.error().message;
}

void ProgramTest::TearDown() {
    if (!engine_) return;
    for (const auto& name : list_folder(state_ + "/programs")) {
        const auto removed = run(engine_->remove(name));
        EXPECT_TRUE(removed) << removed.error().message;
    }
    const Left after = left();
    EXPECT_EQ(after.processes, before_.processes);
    EXPECT_EQ(after.mounts, before_.mounts);
    EXPECT_EQ(after.groups, before_.groups);
    EXPECT_EQ(after.files, before_.files);
    engine_.reset();
    worker_.reset();
}

program::ProgramSettings ProgramTest::settings() const {
    return {.state_folder = state_,
            .holder = {PROGRAM_HOLDER, program::hold_command},
            .ids = {.first = first_user, .count = 100},
            .group_parent = parent_};
}

void ProgramTest::begin(program::ProgramSettings settings) {
    engine_.reset();
    worker_ = make_worker(loop_, "programs");
    engine_ = std::make_unique<program::ProgramEngine>(loop_, *timers_, *worker_, std::move(settings));
}

ContainerSpec ProgramTest::shell(std::string name, std::string script) {
    return {.name = name,
            .labels = {{label, name}},
            .image = "program",
            .command = {"/bin/sh", "-c", std::move(script)}};
}

std::optional<Container> ProgramTest::find(const std::string& name) {
    const auto all = run(engine_->list(label, name));
    EXPECT_TRUE(all) << all.error().message;
    if (!all || all->empty()) return std::nullopt;
    EXPECT_EQ(all->size(), 1U);
    return all->front();
}

bool ProgramTest::wait_for(const std::function<bool()>& done, Duration time) {
    const auto end = timers_->now() + time;
    while (!done() && timers_->now() < end) EXPECT_TRUE(run(sleep(*timers_, 10ms)));
    return done();
}

Container ProgramTest::wait_end(const std::string& name) {
    std::optional<Container> there;
    EXPECT_TRUE(wait_for([&] {
        there = find(name);
        return there && there->state == ContainerState::exited;
    })) << name;
    return there.value_or(Container{});
}

std::string ProgramTest::log_of(const std::string& name) {
    const auto log = run(engine_->logs(name, {.bytes_max = 64 << 20}));
    EXPECT_TRUE(log) << log.error().message;
    return log ? text_of(log_pieces(log->pieces)) : "";
}

std::string ProgramTest::output_of(ContainerSpec spec) {
    const auto name = spec.name;
    const auto launched = launch(std::move(spec));
    EXPECT_TRUE(launched) << launched.error().message;
    if (!launched) return {};
    const auto ended = wait_end(name);
    auto text = log_of(name);
    EXPECT_EQ(ended.exit_code, 0) << text << ended.error;
    return text;
}

program::Running ProgramTest::running(const std::string& name) const {
    return program::parse_running(text_of_file(folder_of(name) + "/running")).value_or(program::Running{});
}

std::string ProgramTest::group(const Container& container, const std::string& controller) const {
    return fmt::format("/sys/fs/cgroup/{}/{}/{}", controller, parent_, container.id);
}

ProgramTest::Left ProgramTest::left() const {
    Left left;
    for (const auto& name : list_folder("/proc", 65536)) {
        if (!parse_number(name)) continue;
        const auto uid = value_of_line(read_text("/proc/" + name + "/status").value_or(""), "Uid:");
        const auto user = parse_number(uid.value_or("").substr(0, uid.value_or("").find('\t'))).value_or(0);
        const auto words = text_of_file("/proc/" + name + "/cmdline");
        if ((user >= first_user && user < first_user + 100) ||
            words.find(program::hold_command) != words.npos)
            left.processes.push_back(fmt::format("{} {}", name, words));
    }
    std::ifstream mounts{"/proc/self/mountinfo"};
    for (std::string line; std::getline(mounts, line);)
        if (line.find(folder_.path()) != line.npos) left.mounts.push_back(line);
    for (const auto& name : list_folder("/sys/fs/cgroup")) {
        const auto path = "/sys/fs/cgroup/" + name + "/" + parent_;
        if (fs::exists(path)) left.groups.push_back(path);
    }
    left.files = list_folder(state_ + "/programs");
    return left;
}

}  // namespace hostler::contract
