// ./dev sim --swarm: many seeds on all cores; what fails is made small, told, and comes with the command that
// replays it. ./dev sim --case CASE is that command. Each case runs in a process of its own, so that one that
// crashes or never ends is a finding like any other.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <thread>

#include "storm.h"

namespace hostler::simulation {

namespace {

namespace json = boost::json;

constexpr unsigned case_seconds_max = 300;  // A case takes one or two.
constexpr std::string_view endless = "endless";

std::string to_json(const Verdict& verdict) {
    json::object object;
    object["broken"] = verdict.broken;
    object["text"] = verdict.text;
    object["foundAt"] = verdict.found_at.count();
    object["strikes"] = json::value_from(verdict.strikes);
    object["conditions"] = json::value_from(verdict.conditions);
    return json::serialize(object);
}

std::optional<Verdict> from_json(const std::string& text) {
    boost::system::error_code wrong;
    const auto value = json::parse(text, wrong);
    if (wrong || !value.is_object()) return std::nullopt;
    const auto& object = value.as_object();
    return Verdict{.broken = json::value_to<std::string>(object.at("broken")),
                   .text = json::value_to<std::string>(object.at("text")),
                   .found_at = Duration{object.at("foundAt").as_int64()},
                   .strikes = json::value_to<std::vector<std::string>>(object.at("strikes")),
                   .conditions = json::value_to<std::vector<std::string>>(object.at("conditions"))};
}

// A case in a process of its own.
class Run {
public:
    explicit Run(const Case& which) : which_(which) {
        std::fflush(nullptr);
        if (::pipe2(pipe_.data(), O_CLOEXEC) != 0) std::abort();
        pid_ = ::fork();
        if (pid_ < 0) std::abort();
        if (pid_ == 0) work();
        ::close(pipe_[1]);
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(pipe_[0]);
    }

    const Case& which() const { return which_; }

    // Waits for its end.
    Verdict verdict() {
        std::string said;
        std::array<char, 4096> some{};
        for (ssize_t size = 0; (size = ::read(pipe_[0], some.data(), some.size())) > 0;)
            said.append(some.data(), static_cast<std::size_t>(size));
        int status = 0;
        ::waitpid(std::exchange(pid_, 0), &status, 0);
        // What it was told of last, and what was said beside.
        Verdict verdict;
        std::string beside;
        for (std::size_t at = 0; at < said.size();) {
            const auto end = std::min(said.find('\n', at), said.size());
            const std::string line = said.substr(at, end - at);
            auto told = line[0] == mark ? from_json(line.substr(1)) : std::nullopt;
            if (told)
                verdict = std::move(*told);
            else
                beside += line + '\n';
            at = end + 1;
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return verdict;
        const bool alarmed = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        verdict.broken = alarmed ? endless : "crash";
        verdict.text = alarmed          ? fmt::format("it did not end within {} s", case_seconds_max)
                       : beside.empty() ? fmt::format("it ended with {}", status)
                                        : beside;
        return verdict;
    }

private:
    [[noreturn]] void work() {
        ::alarm(case_seconds_max);
        ::dup2(pipe_[1], STDERR_FILENO);  // What an assertion says.
        tell(ride(which_, {}, [this](const Verdict& brewed) { tell(brewed); }).verdict);
        ::_exit(0);
    }
    void tell(const Verdict& verdict) const {
        const std::string text = fmt::format("{}{}\n", mark, to_json(verdict));
        for (std::size_t at = 0; at < text.size();) {
            const auto size = ::write(pipe_[1], text.data() + at, text.size() - at);
            if (size <= 0) break;
            at += static_cast<std::size_t>(size);
        }
    }
    static constexpr char mark = '\x1f';  // Before a verdict.
    const Case which_;
    std::array<int, 2> pipe_{-1, -1};
    pid_t pid_ = 0;
};

Verdict judge(const Case& which) { return Run{which}.verdict(); }

struct Options {
    std::string seeds = "1..1000000";
    std::string one_case;
    std::string base;
    double minutes = 5;
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

// In this process: what happened, line by line, and what was found.
int tell(const Case& which) {
    const StormReport report = ride(which);
    for (const std::string& line : report.story) fmt::print("{}\n", line);
    if (!report.found.any()) {
        fmt::print("\nall is well with {}\n", text_of(which));
        return 0;
    }
    fmt::print("\nbroken: {}\n{}To see it again: ./dev sim --case {}\n", report.verdict.broken,
               report.found.text(), text_of(which));
    return 1;
}

void show(const Case& failing, const Verdict& verdict) {
    fmt::print("\n{} breaks {}: {}\n", text_of(failing), verdict.broken, verdict.text);
    if (verdict.broken == endless) {  // Every smaller case, and its story, would take as long.
        fmt::print("\nThe seed:  ./dev sim --case {}\n", text_of(failing));
        return;
    }
    fmt::print("making it small ...\n");
    const Shrunk small = shrink(failing, verdict, judge);
    fmt::print("after {} runs: {} strikes, {} conditions are left\n\n", small.runs,
               small.smallest.strikes->size(), small.smallest.conditions->size());
    std::fflush(stdout);
    if (const pid_t child = ::fork(); child == 0) {  // It may crash in the middle of its story, or never end.
        ::alarm(case_seconds_max);
        ::_exit((tell(small.smallest), std::fflush(stdout), 0));
    } else {
        ::waitpid(child, nullptr, 0);
    }
    fmt::print("\nThe seed:  ./dev sim --case {}\nMade small: ./dev sim --case {}\n", text_of(failing),
               text_of(small.smallest));
}

// "7" or "1..50".
std::optional<std::pair<std::uint64_t, std::uint64_t>> seeds_of(std::string_view text) {
    const auto dots = text.find("..");
    const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
        return value;
    };
    const auto first = number(text.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : number(text.substr(dots + 2));
    if (!first || !last || *last < *first) return std::nullopt;
    return std::pair{*first, *last};
}

int swarm(const Options& options, const Case& base) {
    const auto seeds = seeds_of(options.seeds);
    if (!seeds) {
        fmt::print(stderr, "--seeds {}: a number, or A..B\n", options.seeds);
        return 2;
    }
    auto [next, last] = *seeds;
    const auto began = std::chrono::steady_clock::now();
    const auto until = began + std::chrono::duration<double, std::ratio<60>>{options.minutes};
    std::deque<std::unique_ptr<Run>> running;
    std::map<std::string, std::pair<Case, Verdict>> failing;  // The first of each kind.
    std::uint64_t done = 0;
    while (true) {
        while (failing.empty() && next <= last && running.size() < options.jobs &&
               std::chrono::steady_clock::now() < until) {
            Case which = base;
            which.seed = next++;
            running.push_back(std::make_unique<Run>(which));
        }
        if (running.empty()) break;
        Verdict verdict = running.front()->verdict();
        if (!verdict.broken.empty())
            failing.try_emplace(verdict.broken, running.front()->which(), std::move(verdict));
        running.pop_front();
        if (++done % 100 == 0) {
            fmt::print("{} seeds, up to {}\n", done, next - 1);
            std::fflush(stdout);
        }
    }
    fmt::print("{} seeds in {:.0f} s\n", done,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    for (const auto& [broken, found] : failing) show(found.first, found.second);
    return failing.empty() ? 0 : 1;
}

}  // namespace

}  // namespace hostler::simulation

int main(int count, char** values) {
    using namespace hostler::simulation;
    Options options;
    CLI::App app{"Storms over simulated clouds, many at a time."};
    app.add_option("--seeds", options.seeds, "A..B: which seeds to try");
    app.add_option("--minutes", options.minutes, "no new one is begun after so long");
    app.add_option("--jobs", options.jobs, "processes at one time; else one per core")
        ->check(CLI::Range(1, 1024));
    app.add_option("--like", options.base, "a case that every seed is tried with, as storm=600,tenants=1");
    app.add_option("--case", options.one_case, "tells the story of one case, and tries nothing else");
    CLI11_PARSE(app, count, values);
    const auto which = parse_case(options.one_case.empty() ? options.base : options.one_case);
    if (!which) {
        fmt::print(stderr, "{}\n", which.error().message);
        return 2;
    }
    return options.one_case.empty() ? swarm(options, *which) : tell(*which);
}
