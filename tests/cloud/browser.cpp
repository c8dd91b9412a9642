#include "browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <stdexcept>

#include "machine.h"

namespace hostler::cloud {

namespace json = boost::json;

namespace {

// In a group of its own, so that the browser ends with its driver.
pid_t start_driver(const std::string& log) {
    std::string program = "chromedriver", port = "--port=0";
    char* arguments[] = {program.data(), port.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t pid = 0;
    const int error = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments, environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error{"chromedriver cannot be started; install chromium-driver"};
    return pid;
}

}  // namespace

Browser::Browser(Web& web, std::string folder) : web_(web) {
    std::filesystem::create_directories(folder);
    // The driver takes a free port of IPv6 and wants the same one of IPv4, which another program may hold.
    for (int tries = 0; driver_.empty(); ++tries) start(folder + "/driver.log", tries == 5);
    const json::array arguments{"--headless=new",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--disable-dev-shm-usage",
                                "--no-first-run",
                                "--window-size=1280,900",
                                "--user-data-dir=" + folder + "/profile"};
    const json::object wanted{
        {"browserName", "chrome"},
        {"goog:chromeOptions", json::object{{"binary", "/usr/bin/chromium"}, {"args", arguments}}}};
    const auto made =
        call("POST", "/session", json::object{{"capabilities", json::object{{"alwaysMatch", wanted}}}});
    session_ = at(made, "/sessionId");
    if (session_.empty()) throw std::runtime_error{"the browser does not start: " + json::serialize(made)};
}

Browser::~Browser() {
    if (!session_.empty()) call("DELETE", "/session/" + session_);
    end_driver();
}

void Browser::start(const std::string& log, bool last) {
    process_ = start_driver(log);
    std::smatch port;
    std::string said;
    const bool ended = wait(
        [&] {
            said = read_file(log);
            return std::regex_search(said, port, std::regex{"successfully on port ([0-9]+)"}) ||
                   said.contains("Address already in use");
        },
        30s);
    if (!port.empty()) {
        driver_ = fmt::format("http://127.0.0.1:{}", port.str(1));
        return;
    }
    end_driver();
    if (!ended || last) throw std::runtime_error{"chromedriver does not answer: " + said};
}

void Browser::end_driver() {
    ::kill(-process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

json::value Browser::call(const std::string& method, const std::string& path, const json::value& body) {
    http::Headers headers;
    headers.set("Content-Type", "application/json");
    const Page page = web_.fetch(method, driver_ + path, std::move(headers),
                                 method == "POST" ? json::serialize(body) : "", 60s);
    const json::value answer = page.json();
    const auto* value = answer.is_object() ? answer.get_object().if_contains("value") : nullptr;
    return value ? *value : json::value{};
}

void Browser::open(const std::string& url) {
    call("POST", "/session/" + session_ + "/url", json::object{{"url", url}});
}

std::string Browser::url() {
    const auto now = call("GET", "/session/" + session_ + "/url");
    return now.is_string() ? std::string{now.get_string()} : "";
}

std::string Browser::element(const std::string& selector) {
    const auto found = call("POST", "/session/" + session_ + "/element",
                            json::object{{"using", "css selector"}, {"value", selector}});
    // The one name that the protocol gives an element's id.
    return at(found, "/element-6066-11e4-a52e-4f735466cecf");
}

bool Browser::shows(const std::string& selector, Duration within) {
    return wait([&] { return !element(selector).empty(); }, within);
}

bool Browser::type(const std::string& selector, const std::string& keys) {
    if (!shows(selector)) return false;
    return call("POST", fmt::format("/session/{}/element/{}/value", session_, element(selector)),
                json::object{{"text", keys}})
        .is_null();
}

bool Browser::click(const std::string& selector) {
    return wait(
        [&] {
            const std::string found = element(selector);
            return !found.empty() &&
                   call("POST", fmt::format("/session/{}/element/{}/click", session_, found)).is_null();
        },
        30s);
}

std::string Browser::text(const std::string& selector) {
    if (!shows(selector)) return {};
    const auto said = call("GET", fmt::format("/session/{}/element/{}/text", session_, element(selector)));
    return said.is_string() ? std::string{said.get_string()} : "";
}

json::value Browser::run(const std::string& script) {
    return call("POST", "/session/" + session_ + "/execute/sync",
                json::object{{"script", script}, {"args", json::array{}}});
}

bool Browser::until(const std::string& condition, Duration within) {
    return wait([&] { return run(condition) == json::value(true); }, within);
}

bool Browser::wait(const std::function<bool()>& so, Duration within) {
    const Instant end = web_.timers->now() + within;
    while (!so()) {
        if (web_.timers->now() >= end) return false;
        (void)web_.go(
            [](Timers& timers) -> Task<> { co_return co_await sleep(timers, 100ms); }(*web_.timers));
    }
    return true;
}

}  // namespace hostler::cloud
