#include "adapters/docker/memory_kills.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "core/kernel_files.h"

namespace hostler::docker {

namespace {

constexpr std::size_t log_bytes_max = 32 << 20;

// The kernel writes "\xe2" for bytes that its log does not show.
std::string unescaped(std::string_view text) {
    std::string made;
    while (!text.empty()) {
        unsigned byte = 0;
        const bool escaped =
            text.starts_with("\\x") && text.size() >= 4 &&
            std::from_chars(text.data() + 2, text.data() + 4, byte, 16).ptr == text.data() + 4;
        made += escaped ? static_cast<char>(byte) : text.front();
        text.remove_prefix(escaped ? 4 : 1);
    }
    return made;
}

// "oom-kill:…,task_memcg=/…,task=NAME,pid=1,uid=0": a name may contain commas and words of the kernel.
std::string task_of(std::string_view line) {
    constexpr std::string_view group = ",task_memcg=", task = ",task=", pid = ",pid=";
    const auto from = line.find(task, std::min(line.find(group), line.size()));
    const auto end = line.rfind(pid);
    if (from == line.npos || end == line.npos || end < from + task.size()) return {};
    return unescaped(line.substr(from + task.size(), end - from - task.size()));
}

bool has_controller(std::string_view names, std::string_view wanted) {
    while (!names.empty()) {
        const auto name = names.substr(0, names.find(','));
        if (name == wanted) return true;
        names.remove_prefix(std::min(name.size() + 1, names.size()));
    }
    return false;
}

}  // namespace

std::string kills_file(std::string_view cgroup, std::string_view id, std::string_view root) {
    std::string unified, legacy;
    while (!cgroup.empty()) {
        const auto line = cgroup.substr(0, cgroup.find('\n'));
        cgroup.remove_prefix(std::min(line.size() + 1, cgroup.size()));
        const auto first = line.find(':');
        const auto second = line.find(':', std::min(first, line.size() - 1) + 1);
        if (second == line.npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        // The container's own group: a process may be in one below.
        auto path = line.substr(second + 1);
        const auto at = path.find(id);
        if (id.empty() || at == path.npos || path.find("/..") != path.npos) continue;
        path = path.substr(0, path.find('/', at));
        if (controllers.empty()) unified = fmt::format("{}{}/memory.events", root, path);
        if (has_controller(controllers, "memory"))
            legacy = fmt::format("{}/memory{}/memory.oom_control", root, path);
    }
    return legacy.empty() ? unified : legacy;
}

std::optional<std::uint64_t> kills_in(const std::string& file) {
    const auto text = read_text(file);
    const auto value = text ? value_of_line(*text, "oom_kill") : std::nullopt;
    const auto number = value ? parse_number(*value) : std::nullopt;
    if (!number || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::map<std::string, std::string> killed_for_memory(const std::string& kernel_log,
                                                     std::span<const std::string> ids) {
    std::map<std::string, std::string> found;
    const int fd = ::open(kernel_log.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return found;
    char record[8192];  // The kernel gives one whole record a read.
    for (std::size_t bytes = 0; bytes < log_bytes_max;) {
        const auto size = ::read(fd, record, sizeof record);
        if (size < 0 && (errno == EPIPE || errno == EINTR))
            continue;  // Overwritten meanwhile: read the next record.
        if (size <= 0) break;
        bytes += static_cast<std::size_t>(size);
        const std::string_view line{record, static_cast<std::size_t>(size)};
        if (line.find("oom-kill:") == line.npos) continue;
        for (const auto& id : ids)
            if (line.find(id) != line.npos) found[id] = task_of(line);
    }
    ::close(fd);
    return found;
}

}  // namespace hostler::docker
