#include "adapters/program/records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/kernel_files.h"

namespace hostler::program {

namespace json = boost::json;

namespace {

Result<json::object> parse(std::string_view text) {
    boost::system::error_code error;
    json::parse_options options;
    options.allow_invalid_utf8 = true;
    auto value = json::parse({text.data(), text.size()}, error, {}, options);
    if (error || !value.is_object()) return fail(Code::invalid, "it is no record of a program");
    return std::move(value.get_object());
}

// Missing values are as of a record that does not know them: an older agent may have written it.
std::int64_t number_at(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value && value->is_int64() ? value->get_int64() : 0;
}
bool flag_at(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value && value->is_bool() && value->get_bool();
}
std::string text_at(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value && value->is_string() ? std::string{value->get_string()} : std::string{};
}

json::object object_of(const ProcessMark& mark) {
    return {{"pid", mark.pid}, {"started", static_cast<std::int64_t>(mark.started)}};
}
ProcessMark mark_at(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    if (!value || !value->is_object()) return {};
    return {static_cast<pid_t>(number_at(value->get_object(), "pid")),
            static_cast<std::uint64_t>(number_at(value->get_object(), "started"))};
}

void sync_path(const std::string& path, int flags) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
    if (fd >= 0) ::fsync(fd), ::close(fd);
}

Result<> replace_file(const std::string& folder, std::string_view name, std::string_view text, bool durable) {
    const std::string path = fmt::format("{}/{}", folder, name), fresh = path + ".new";
    const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                   (!durable || ::fsync(fd) == 0);
    int error = errno;
    if (fd >= 0) ::close(fd);
    if (written && ::rename(fresh.c_str(), path.c_str()) != 0) written = false, error = errno;
    if (written) return {};
    const bool full = error == ENOSPC || error == EDQUOT;
    return fail(full ? Code::exhausted : Code::unavailable,
                fmt::format("cannot write {}: {}", path, std::strerror(error)), full ? "disk_full" : "");
}

}  // namespace

std::string to_text(const Record& record) {
    return json::serialize(json::object{{"name", record.name},
                                        {"id", record.id},
                                        {"labels", json::value_from(record.labels)},
                                        {"user", record.user},
                                        {"groups", json::value_from(record.groups)}});
}

std::string to_text(const Running& running) {
    return json::serialize(
        json::object{{"holder", object_of(running.holder)}, {"init", object_of(running.init)}});
}

std::string to_text(const Ending& ending) {
    return json::serialize(json::object{{"exit_code", ending.exit_code},
                                        {"oom_killed", ending.oom_killed},
                                        {"stop_killed", ending.stop_killed},
                                        {"error", ending.error}});
}

Result<Record> parse_record(std::string_view text) {
    const auto object = TRY(parse(text));
    Record record{.name = text_at(object, "name"),
                  .id = text_at(object, "id"),
                  .user = static_cast<std::uint32_t>(number_at(object, "user"))};
    if (record.name.empty()) return fail(Code::invalid, "it is no record of a program");
    if (const auto* labels = object.if_contains("labels"); labels && labels->is_object())
        for (const auto& [key, value] : labels->get_object())
            if (value.is_string()) record.labels[std::string{key}] = std::string{value.get_string()};
    if (const auto* groups = object.if_contains("groups"); groups && groups->is_array())
        for (const auto& group : groups->get_array())
            if (group.is_string()) record.groups.emplace_back(group.get_string());
    return record;
}

Result<Running> parse_running(std::string_view text) {
    const auto object = TRY(parse(text));
    return Running{mark_at(object, "holder"), mark_at(object, "init")};
}

Result<Ending> parse_ending(std::string_view text) {
    const auto object = TRY(parse(text));
    return Ending{.exit_code = static_cast<int>(number_at(object, "exit_code")),
                  .oom_killed = flag_at(object, "oom_killed"),
                  .stop_killed = flag_at(object, "stop_killed"),
                  .error = text_at(object, "error")};
}

ProcessMark mark_of(pid_t process) {
    constexpr int started_field = 20;  // Counted from the state, which stands behind the name.
    const auto stat = read_text(fmt::format("/proc/{}/stat", process)).value_or("");
    ProcessMark mark{.pid = process};
    auto at = stat.rfind(')');
    for (int field = 0; field < started_field && at != stat.npos; ++field) at = stat.find(' ', at + 1);
    if (at != stat.npos)
        mark.started =
            static_cast<std::uint64_t>(parse_number(std::string_view{stat}.substr(at + 1)).value_or(0));
    return mark;
}

Result<> write_record(const std::string& folder, std::string_view name, std::string_view text) {
    return replace_file(folder, name, text, false);
}

Result<> write_ending(const std::string& folder, const Ending& ending) {
    sync_path(folder + "/record", O_RDONLY);
    sync_path(folder + "/running", O_RDONLY);
    TRY(replace_file(folder, "result", to_text(ending), true));
    sync_path(folder, O_RDONLY | O_DIRECTORY);
    return {};
}

std::optional<Lock> Lock::take(const std::string& path, Wait wait) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return std::nullopt;
    Lock lock{fd};
    int taken = 0;
    do taken = ::flock(fd, LOCK_EX | (wait == Wait::no ? LOCK_NB : 0));
    while (taken != 0 && errno == EINTR);
    if (taken != 0) return std::nullopt;
    return lock;
}

Lock::~Lock() {
    if (fd_ >= 0) ::close(fd_);
}

}  // namespace hostler::program
