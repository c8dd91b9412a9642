#include "adapters/node_steps/programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "adapters/node_steps/command.h"
#include "adapters/node_steps/files.h"
#include "adapters/node_steps/groups.h"
#include "adapters/node_steps/keeper.h"
#include "core/spawn.h"

namespace hostler::node_steps {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds begin_time{10}, end_time{20};
constexpr std::size_t program_bytes_max = 8 << 20;

std::string unit_of(const std::string& node, const std::string& step) {
    return fmt::format("hostler-{}-{}.service", plain(node), plain(step));
}

std::string group_of(const std::string& node, const std::string& step) {
    return fmt::format("{}.{}.program", node, step);
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{folder, error})
        if (entry.is_directory(error)) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

// A keeper ends its program, or is ended with it.
void end_kept(const StepSettings& settings, const std::string& folder, const std::string& group) {
    const auto keeper = read_number(folder + "/keeper");
    if (keeper && *keeper > 1 && is_kept(folder)) {
        ::kill(static_cast<pid_t>(*keeper), SIGTERM);
        for (const auto until = Clock::now() + end_time; is_kept(folder) && Clock::now() < until;)
            ::poll(nullptr, 0, 20);
        if (is_kept(folder)) ::kill(static_cast<pid_t>(*keeper), SIGKILL);
    }
    (void)end_groups(group_folders(settings, group));
}

}  // namespace

std::string program_text(const std::vector<std::string>& arguments) {
    std::string text;
    for (const std::string& word : arguments) text += word, text += '\0';
    return text;
}

std::vector<std::string> parse_program(std::string_view text) {
    std::vector<std::string> arguments;
    for (auto end = text.find('\0'); end != text.npos; end = text.find('\0')) {
        arguments.emplace_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    return arguments;
}

std::string Programs::folder_of(const std::string& node, const std::string& step) const {
    return fmt::format("{}/programs/{}/{}", settings_.folder, plain(node), plain(step));
}

bool Programs::runs(const std::string& node, const std::string& step) const {
    if (!settings_.systemd) return is_kept(folder_of(node, step));
    const Stop soon{Clock::now() + begin_time};
    const auto asked = run_command(settings_, unit_of(node, step) + ".ask",
                                   {"systemctl", "is-active", "--quiet", unit_of(node, step)}, soon);
    return asked && asked->exit_code == 0;
}

Result<> Programs::begin(const std::string& node, const std::string& step, std::vector<std::string> arguments,
                         bool fresh, const Stop& stop) {
    arguments[0] = TRY(find_program(settings_, arguments[0]));
    const std::string folder = folder_of(node, step), text = program_text(arguments);
    const bool same = read_bytes(folder + "/program", program_bytes_max) == text;
    if (same && !fresh && runs(node, step)) return {};
    TRY(end(node, step));
    TRY(write_whole(folder + "/program", text, 0600));
    if (settings_.systemd) return begin_unit(unit_of(node, step), arguments, stop);
    return begin_kept(node, step, stop);
}

Result<> Programs::begin_unit(const std::string& unit, const std::vector<std::string>& arguments,
                              const Stop& stop) {
    std::vector<std::string> words{"systemd-run",
                                   "--quiet",
                                   "--collect",
                                   "--unit=" + unit,
                                   "--property=Restart=always",
                                   "--property=RestartSec=2",
                                   "--property=StartLimitIntervalSec=0",
                                   "--property=Delegate=yes"};
    for (const std::string& variable : environment_of(settings_)) words.push_back("--setenv=" + variable);
    words.push_back("--");
    words.insert(words.end(), arguments.begin(), arguments.end());
    const auto end = TRY(run_command(settings_, unit + ".begin", words, stop));
    if (end.exit_code == 0) return {};
    return fail(Code::unavailable,
                fmt::format("systemd does not start {}: {}", unit, last_lines(end.last, {}, {})));
}

Result<> Programs::begin_kept(const std::string& node, const std::string& step, const Stop& stop) {
    const std::string folder = folder_of(node, step);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return fail(Code::unavailable, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    Start start{.arguments = settings_.keeper,
                .environment = environment_of(settings_),
                .groups = make_groups(group_folders(settings_, group_of(node, step))),
                .streams = {{nothing, 0}, {nothing, 1}, {nothing, 2}, {ends[1], ready_end}}};
    start.arguments.push_back(folder);
    start.arguments.push_back(settings_.path);
    const auto started = start_process(start);
    ::close(ends[1]), ::close(nothing);
    if (started) (void)wait_end(*started);  // The keeper is its child.
    bool ready = false;
    const auto until = std::min(stop.until(), Clock::now() + begin_time);
    while (started && !ready && !stop.cancelled() && Clock::now() < until) {
        pollfd end{.fd = ends[0], .events = POLLIN};
        if (::poll(&end, 1, 20) <= 0) continue;
        char word[2];
        ready = ::read(ends[0], word, sizeof word) == sizeof word;
        break;
    }
    ::close(ends[0]);
    if (!started) return std::unexpected(started.error());
    if (ready) return {};
    end_kept(settings_, folder, group_of(node, step));
    if (stop.cancelled()) return fail(Code::cancelled, "cancelled");
    return fail(Code::unavailable, fmt::format("the keeper of step {} does not start", step));
}

Result<> Programs::end(const std::string& node, const std::string& step) {
    const std::string folder = folder_of(node, step);
    std::error_code error;
    if (!fs::exists(folder + "/program", error)) return {};
    if (settings_.systemd) {
        const Stop soon{Clock::now() + end_time};
        (void)TRY(run_command(settings_, unit_of(node, step) + ".end",
                              {"systemctl", "stop", unit_of(node, step)}, soon));
        if (runs(node, step))
            return fail(Code::unavailable, fmt::format("systemd does not end {}", unit_of(node, step)));
    } else {
        end_kept(settings_, folder, group_of(node, step));
        if (is_kept(folder))
            return fail(Code::unavailable, fmt::format("the program of step {} cannot be ended", step));
    }
    fs::remove(folder + "/program", error);
    return {};
}

Result<> Programs::end_all(const std::string& node) {
    const std::string all = settings_.folder + "/programs", folder = fmt::format("{}/{}", all, plain(node));
    for (const std::string& step : names_in(folder)) TRY(end(node, step));
    std::error_code error;
    fs::remove_all(folder, error);
    if (!error && names_in(all).empty()) fs::remove_all(settings_.folder + "/" + files_folder, error);
    if (error) return fail(Code::unavailable, fmt::format("cannot remove {}: {}", folder, error.message()));
    return {};
}

Result<> Programs::resume(const Stop& stop) {
    Result<> first{};
    const std::string all = settings_.folder + "/programs";
    for (const std::string& node : names_in(all))
        for (const std::string& step : names_in(all + "/" + node)) {
            const auto text = read_bytes(folder_of(node, step) + "/program", program_bytes_max);
            if (!text || stop.now()) continue;
            auto begun = begin(node, step, parse_program(*text), false, stop);
            if (!begun && first) first = std::move(begun);
        }
    return first;
}

}  // namespace hostler::node_steps
