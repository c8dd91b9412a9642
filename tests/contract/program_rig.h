// Real programs without containers, in a state folder, control groups and users of a test's own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "adapters/program/engine.h"
#include "adapters/program/holder.h"
#include "core/log_lines.h"
#include "core/testing/real_timers.h"
#include "core/testing/temp_folder.h"

namespace hostler::contract {

class ProgramTest : public ::testing::Test {
protected:
    static constexpr std::uint32_t first_user = 0x70e00000;
    static constexpr const char* label = "hostler.instance";

    void SetUp() override;
    void TearDown() override;  // Removes all, and looks that nothing is left.

    program::ProgramSettings settings() const;
    void begin(program::ProgramSettings settings);  // Another engine on the same folder; so after a restart.
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(loop_, std::move(task));
    }
    static ContainerSpec shell(std::string name, std::string script);
    Result<Container> launch(ContainerSpec spec) { return run(engine_->launch(std::move(spec))); }
    std::optional<Container> find(const std::string& name);
    // What list() shows once it has ended; fails after 20 s.
    Container wait_end(const std::string& name);
    bool wait_for(const std::function<bool()>& done, Duration time = std::chrono::seconds{20});
    std::string log_of(const std::string& name);
    // All that it wrote, once it has ended well.
    std::string output_of(ContainerSpec spec);
    std::string folder_of(const std::string& name) const { return state_ + "/programs/" + name; }
    program::Running running(const std::string& name) const;
    std::string group(const Container& container, const std::string& controller) const;

    // What a program may leave on a machine.
    struct Left {
        std::vector<std::string> processes, mounts, groups, files;
        bool operator==(const Left&) const = default;
    };
    Left left() const;

    testing::TempFolder folder_;
    std::string state_ = folder_.path() + "/state";
    std::string parent_ = fmt::format("hostler-programs-test-{}", ::getpid());
    Loop loop_;
    std::unique_ptr<testing::RealTimers> timers_;
    std::unique_ptr<Worker> worker_;
    std::unique_ptr<program::ProgramEngine> engine_;
    Left before_;
};

}  // namespace hostler::contract
