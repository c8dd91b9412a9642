#include "adapters/docker/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <set>
#include <span>

#include "adapters/docker/bodies.h"
#include "adapters/docker/memory_kills.h"
#include "core/ip_address.h"
#include "core/kernel_files.h"

namespace hostler::docker {

namespace {

constexpr std::size_t known_max = 4096;
constexpr std::size_t cgroup_bytes_max = 65536;

template <class Number>
bool read_hex(std::string_view text, Number& into) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), into, 16);
    return !text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

// "0100007F", or four such words: each a number as this machine has it in memory.
std::optional<IpAddress> address_of(std::string_view hex) {
    constexpr std::size_t word_size = 8;
    std::array<std::uint8_t, 16> bytes{};
    const std::size_t words = hex.size() / word_size;
    if (hex.size() != word_size && hex.size() != 4 * word_size) return std::nullopt;
    for (std::size_t i = 0; i < words; ++i) {
        std::uint32_t word = 0;
        if (!read_hex(hex.substr(i * word_size, word_size), word)) return std::nullopt;
        std::memcpy(bytes.data() + 4 * i, &word, sizeof word);
    }
    if (words == 1) return IpAddress::v4(std::span{bytes}.first<4>());
    return IpAddress::v6(bytes);
}

// Its beginning, where the kernel lists what listens.
std::string beginning_of(const std::string& path) {
    constexpr std::streamsize bytes_max = 1 << 20;
    std::ifstream file{path, std::ios::binary};
    std::string text(bytes_max, '\0');
    file.read(text.data(), bytes_max);
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

// A number may be another process's by now.
bool is_in(std::string_view id, const std::string& proc, std::int64_t pid) {
    const auto groups = read_text(fmt::format("{}/{}/cgroup", proc, pid), cgroup_bytes_max);
    return groups && groups->contains(id);
}

}  // namespace

std::vector<std::string> listening_in(std::string_view table, std::uint16_t port) {
    constexpr std::string_view listens = "0A";
    std::vector<std::string> found;
    while (!table.empty()) {
        // "  0: 0100007F:1F90 00000000:0000 0A …"
        std::string_view line = table.substr(0, table.find('\n'));
        table.remove_prefix(std::min(line.size() + 1, table.size()));
        std::array<std::string_view, 4> columns;
        for (auto& column : columns) {
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            column = line.substr(0, line.find(' '));
            line.remove_prefix(column.size());
        }
        const auto colon = columns[1].find(':');
        std::uint16_t at = 0;
        if (columns[3] != listens || colon == columns[1].npos) continue;
        if (!read_hex(columns[1].substr(colon + 1), at) || at != port) continue;
        if (const auto address = address_of(columns[1].substr(0, colon)))
            found.push_back(address->bare_text());
    }
    return found;
}

DockerProcesses::DockerProcesses(Net& net, Timers& timers, Worker& worker, ProcessSettings settings)
    : timers_(timers), worker_(worker), settings_(std::move(settings)), api_(net, timers, settings_.socket) {}

// nullopt: it does not run.
Task<std::optional<DockerProcesses::First>> DockerProcesses::first_process(std::string container) {
    if (const auto found = known_.find(container); found != known_.end()) {
        const First first = found->second;
        if (CO_TRY(co_await run_on<bool>(worker_, [first, proc = settings_.proc]() -> Result<bool> {
                return is_in(first.id, proc, first.pid);
            })))
            co_return first;
        known_.erase(container);
    }
    const auto answer = CO_TRY(
        co_await api_.call("GET", target("/containers/" + container + "/json", {}), settings_.call_time));
    if (is_gone(answer.status, answer.body)) co_return std::nullopt;
    if (!answer.success())
        co_return std::unexpected(engine_error(answer.status, answer.body,
                                               fmt::format("container {} cannot be looked at", container)));
    auto seen = CO_TRY(parse_inspect(answer.body));
    if (seen.pid == 0) co_return std::nullopt;
    if (known_.size() >= known_max) known_.clear();
    co_return known_[container] = First{std::move(seen.id), seen.pid};
}

Task<std::vector<std::string>> DockerProcesses::listening(std::string container, std::uint16_t port) {
    const auto first = CO_TRY(co_await first_process(container));
    if (!first) co_return fail(Code::not_found, fmt::format("container {} does not run", container));
    using Addresses = std::vector<std::string>;
    co_return co_await run_on<Addresses>(
        worker_,
        [folder = fmt::format("{}/{}/net", settings_.proc, first->pid), port]() -> Result<Addresses> {
            std::set<std::string> all;
            for (const char* table : {"/tcp", "/tcp6"})
                for (auto& address : listening_in(beginning_of(folder + table), port))
                    all.insert(std::move(address));
            return Addresses{all.begin(), all.end()};
        });
}

Task<std::map<std::string, MemoryKills>> DockerProcesses::memory_kills(std::vector<std::string> containers) {
    std::erase_if(counted_, [&](const auto& one) {
        return std::ranges::find(containers, one.first) == containers.end();
    });
    for (const auto& container : containers) {
        const auto found = counted_.find(container);
        if (found != counted_.end() &&
            (!found->second.file.empty() || timers_.now() < found->second.look_again))
            continue;
        counted_[container] = CO_TRY(co_await place_of(container));
    }
    using Counts = std::map<std::string, std::optional<std::uint64_t>>;
    std::map<std::string, std::string> files;
    for (const auto& [container, counted] : counted_)
        if (!counted.file.empty()) files[container] = counted.file;
    const auto counts = CO_TRY(co_await run_on<Counts>(worker_, [files]() -> Result<Counts> {
        Counts all;
        for (const auto& [container, file] : files) all[container] = kills_in(file);
        return all;
    }));
    bool risen = false;
    for (const auto& [container, count] : counts) {
        const auto found = counted_.find(container);
        if (found == counted_.end()) continue;
        if (!count) {
            counted_.erase(found);  // It has ended; of this name there may be another.
            continue;
        }
        risen = risen || *count > found->second.kills.count;
        found->second.kills.count = *count;
    }
    if (risen) CO_TRY(co_await read_log());
    std::map<std::string, MemoryKills> all;
    for (const auto& [container, counted] : counted_)
        if (!counted.file.empty()) all[container] = counted.kills;
    co_return all;
}

Task<DockerProcesses::Counted> DockerProcesses::place_of(std::string container) {
    Counted made{.look_again = timers_.now() + settings_.look_again};
    const auto first = CO_TRY(co_await first_process(container));
    if (!first) co_return made;
    made.id = first->id;
    made.file = CO_TRY(co_await run_on<std::string>(
        worker_,
        [first = *first, proc = settings_.proc, cgroups = settings_.cgroups]() -> Result<std::string> {
            const auto groups = read_text(fmt::format("{}/{}/cgroup", proc, first.pid), cgroup_bytes_max);
            std::string file = kills_file(groups.value_or(""), first.id, cgroups);
            return kills_in(file) ? file : std::string{};
        }));
    co_return made;
}

// The names of those that the counts tell of.
Task<> DockerProcesses::read_log() {
    std::vector<std::string> ids;
    for (const auto& [container, counted] : counted_)
        if (counted.kills.count > 0) ids.push_back(counted.id);
    using Names = std::map<std::string, std::string>;
    const auto names =
        CO_TRY(co_await run_on<Names>(worker_, [log = settings_.kernel_log, ids]() -> Result<Names> {
            return killed_for_memory(log, ids);
        }));
    for (auto& [container, counted] : counted_)
        if (const auto name = names.find(counted.id); name != names.end())
            counted.kills.process = name->second;
    co_return Result<>{};
}

}  // namespace hostler::docker
