// This process's own terminal and environment.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "cli/world.h"
#include "core/spawn.h"

namespace hostler::cli {

namespace {

// Keys are not shown while they are typed.
class Unseen {
public:
    Unseen() {
        if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
        termios quiet = before_;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &quiet) == 0;
    }
    ~Unseen() {
        if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    Unseen(const Unseen&) = delete;
    Unseen& operator=(const Unseen&) = delete;

private:
    termios before_{};
    bool changed_ = false;
};

std::optional<std::string> ask(std::string_view prompt, bool secret) {
    std::fwrite(prompt.data(), 1, prompt.size(), stderr);
    std::string line;
    std::optional<Unseen> unseen;
    if (secret) unseen.emplace();
    const bool read = static_cast<bool>(std::getline(std::cin, line));
    if (secret) std::fputc('\n', stderr);
    if (!read) return std::nullopt;
    return line;
}

std::optional<WindowSize> window_size() {
    winsize size{};
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return std::nullopt;
    if (size.ws_row == 0 || size.ws_col == 0) return std::nullopt;
    return WindowSize{size.ws_row, size.ws_col};
}

std::shared_ptr<void> raw_terminal() {
    termios before{};
    if (tcgetattr(STDIN_FILENO, &before) != 0) return nullptr;
    termios raw = before;
    cfmakeraw(&raw);
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0) return nullptr;
    return {nullptr, [before](void*) { tcsetattr(STDIN_FILENO, TCSADRAIN, &before); }};
}

// In a group apart: Ctrl-C here does not end it. Its talk is not for this terminal.
bool open_url(const std::string& url) {
#ifdef __APPLE__
    constexpr const char* opener = "open";
#else
    constexpr const char* opener = "xdg-open";
#endif
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return false;
    const std::vector<std::string> words{opener, url};
    const auto started =
        spawn(words, {.streams = {{nothing, 0}, {nothing, 1}, {nothing, 2}}, .own_group = true});
    ::close(nothing);
    return started.has_value();
}

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

CliWorld terminal_world(Loop& loop, Net& net, Timers& timers) {
    CliWorld world{.loop = loop, .net = net, .timers = timers};
    world.env = [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread.
        if (!value) return std::nullopt;
        return value;
    };
    world.out = [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
    };
    world.in = [](std::size_t bytes_max) {
        std::string text;
        std::array<char, 16 * 1024> piece{};
        while (text.size() < bytes_max) {
            const std::size_t room = std::min(piece.size(), bytes_max - text.size());
            const std::size_t size = std::fread(piece.data(), 1, room, stdin);
            if (size == 0) break;
            text.append(piece.data(), size);
        }
        return text;
    };
    world.err = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
    world.in_is_terminal = isatty(STDIN_FILENO) == 1;
    world.open_url = open_url;
    world.host_name = host_name();
    world.window_size = window_size;
    world.raw_terminal = raw_terminal;
    world.dice = [] {
        std::uint32_t number = 0;
        while (::getrandom(&number, sizeof number, 0) != sizeof number) {
        }
        return number;
    };
    world.out_is_terminal = isatty(STDOUT_FILENO) == 1;
    world.err_is_terminal = isatty(STDERR_FILENO) == 1;
    if (isatty(STDIN_FILENO) == 1 && world.err_is_terminal) world.ask = ask;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) world.columns = size.ws_col;
    return world;
}

}  // namespace hostler::cli
