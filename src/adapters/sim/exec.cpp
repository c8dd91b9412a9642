#include "adapters/sim/exec.h"

#include <fmt/format.h>

#include "ports/ended_process.h"

namespace hostler::sim {

namespace {

constexpr std::chrono::milliseconds call_time{2};
constexpr std::size_t pipe_bytes = 64 * 1024;  // Unread output, beyond which a command waits.

// Both what it says and what it is told, by name of the command.
class SimProcess final : public Process {
public:
    SimProcess(Loop& loop, SimEngine& engine, ExecSpec spec)
        : engine_(engine), spec_(std::move(spec)), tasks_(loop) {
        begin();
        tasks_.start("simulated command", watch());
    }
    ~SimProcess() override { tasks_.cancel(); }

    Task<ProcessOutput> read(std::span<char> into) override {
        while (true) {
            if (closed_) co_return fail(Code::cancelled, "it was given up");
            fill();
            auto& from = error_.empty() ? output_ : error_;
            const bool is_error = !error_.empty();
            const std::size_t size = from.copy(into.data(), into.size());
            from.erase(0, size);
            if (size > 0) changed_.notify_all();
            if (size > 0 || code_) co_return ProcessOutput{size, is_error};
            CO_TRY(co_await changed_.wait());
        }
    }
    Task<> write(std::string_view bytes) override {
        while (!code_ && output_.size() >= pipe_bytes) CO_TRY(co_await changed_.wait());
        if (code_) co_return fail(Code::unavailable, "the command has ended");
        if (name() == "cat") output_ += bytes;
        if (name() == "size" && bytes.find('q') != std::string_view::npos) code_ = 0;
        changed_.notify_all();
        co_return Result<>{};
    }
    Task<> finish() override {
        if (name() == "cat") code_ = 0;
        changed_.notify_all();
        co_return Result<>{};
    }
    Task<> resize(TerminalSize size) override {
        if (name() == "size") output_ += fmt::format("{} {}\n", size.rows, size.columns);
        changed_.notify_all();
        co_return Result<>{};
    }
    Task<> signal(std::string which) override {
        const int number = which == "INT" ? 2 : which == "HUP" ? 1 : which == "KILL" ? 9 : 15;
        if (!code_) code_ = 128 + number;
        next_ = last_;
        changed_.notify_all();
        co_return Result<>{};
    }
    Task<int> exit_code() override { co_return code_.value_or(0); }
    void close() override {
        closed_ = true;
        changed_.notify_all();
    }

private:
    const std::string& name() const { return spec_.command.front(); }

    void begin() {
        std::string words;
        for (std::size_t i = 1; i < spec_.command.size(); ++i)
            words += (words.empty() ? "" : " ") + spec_.command[i];
        if (name() == "echo")
            output_ = words + "\n", code_ = 0;
        else if (name() == "err")
            error_ = words + "\n", code_ = 1;
        else if (name() == "exit")
            code_ = std::atoi(words.c_str());
        else if (name() == "count")
            last_ = std::strtoull(words.c_str(), nullptr, 10);
        else if (name() == "size")
            output_ = fmt::format("{} {}\n", spec_.size.rows, spec_.size.columns);
        else if (name() != "cat" && name() != "sleep")
            error_ = fmt::format("{}: not found\n", name()), code_ = 127;
    }
    void fill() {
        if (name() != "count") return;
        while (next_ < last_ && output_.size() < pipe_bytes) output_ += fmt::format("{}\n", ++next_);
        if (next_ == last_ && !code_) code_ = 0;
    }
    // The end of a container is the end of what runs in it.
    Task<> watch() {
        while (engine_.runs(spec_.container)) CO_TRY(co_await engine_.ended.wait());
        if (!code_) code_ = 137;
        next_ = last_;
        changed_.notify_all();
        co_return Result<>{};
    }

    SimEngine& engine_;
    const ExecSpec spec_;
    std::string output_, error_;
    std::uint64_t next_ = 0, last_ = 0;
    std::optional<int> code_;
    bool closed_ = false;
    Signal changed_;
    TaskGroup tasks_;
};

class ToKept final : public Process {
public:
    explicit ToKept(std::string& keep) : keep_(keep) {}
    Task<ProcessOutput> read(std::span<char>) override {
        while (!finished_) CO_TRY(co_await changed_.wait());
        co_return ProcessOutput{};
    }
    Task<> write(std::string_view bytes) override {
        taken_ += bytes;
        co_return Result<>{};
    }
    Task<> finish() override {
        keep_ = std::move(taken_);
        finished_ = true;
        changed_.notify_all();
        co_return Result<>{};
    }
    Task<> resize(TerminalSize) override { co_return Result<>{}; }
    Task<> signal(std::string) override { co_return Result<>{}; }
    Task<int> exit_code() override { co_return 0; }
    void close() override { finished_ = true, changed_.notify_all(); }

private:
    std::string& keep_;
    std::string taken_;
    bool finished_ = false;
    Signal changed_;
};

}  // namespace

Result<> SimExec::admit(const std::string& container) const {
    if (!engine_.runs(container))
        return fail(Code::conflict, fmt::format("container {} does not run", container), "not_running");
    return {};
}

Task<ProcessPtr> SimExec::start(ExecSpec spec) {
    CO_TRY(co_await sleep(timers_, call_time));
    CO_TRY(admit(spec.container));
    if (spec.command.empty() || spec.command.front().empty())
        co_return fail(Code::invalid, "no command is named");
    ++started;
    co_return std::make_unique<SimProcess>(loop_, engine_, std::move(spec));
}

Task<PathFacts> SimExec::look(std::string container, std::string path) {
    CO_TRY(co_await sleep(timers_, call_time));
    CO_TRY(admit(container));
    if (path == "/") co_return PathFacts{.name = "/", .mode = 0755, .folder = true};
    if (!files_.contains(container + path))
        co_return fail(Code::not_found, fmt::format("there is no {} in the instance", path),
                       "path_not_found");
    co_return PathFacts{.name = path.substr(path.rfind('/') + 1), .mode = 0755, .folder = true};
}

Task<ProcessPtr> SimExec::read_files(std::string container, std::string path) {
    CO_TRY(co_await look(container, path));
    co_return std::make_unique<EndedProcess>(files_[container + path], "it takes no files");
}

Task<ProcessPtr> SimExec::write_files(std::string container, std::string folder) {
    CO_TRY(co_await sleep(timers_, call_time));
    CO_TRY(admit(container));
    co_return std::make_unique<ToKept>(files_[container + folder]);
}

}  // namespace hostler::sim
