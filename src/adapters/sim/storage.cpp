#include "adapters/sim/storage.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/names.h"
#include "domain/network/ipv4.h"

namespace hostler::sim {

Task<> change(Disk& disk, Timers& timers, std::function<void()> effect, bool grows) {
    const auto some = [&] {
        return Duration{static_cast<std::int64_t>(
            disk.dice.below(static_cast<std::uint64_t>(disk.faults.time.count()) + 1))};
    };
    CO_TRY(co_await sleep(timers, some()));
    if (grows && disk.faults.full)
        co_return fail(Code::exhausted, "the disk is full; make room on it", "disk_full");
    const bool failed = std::exchange(disk.faults.fail_next, false) || disk.dice.chance(disk.faults.fail);
    if (!failed || disk.dice.chance(0.5)) effect();
    CO_TRY(co_await sleep(timers, some()));
    if (failed) co_return fail(Code::unavailable, "the disk failed");
    co_return Result<>{};
}

Task<> SimJournal::in_turn(std::shared_ptr<Line> line, Task<> task) {
    struct Place {
        Line& line;
        const std::uint64_t number;
        ~Place() {
            line.waiting.erase(number);
            line.moved.notify_all();
        }
    };
    const Place mine{*line, ++line->last};
    line->waiting.insert(mine.number);
    while (*line->waiting.begin() != mine.number) CO_TRY(co_await line->moved.wait());
    co_return co_await std::move(task);
}

// One after the other, so that whoever dies in the middle leaves the first of them.
Task<> SimJournal::put_each(const std::vector<Entry>& entries) {
    for (const auto& [key, value] : entries)
        CO_TRY(co_await change(disk_, timers_, [&] { disk_.journal[key] = value; }, true));
    co_return Result<>{};
}

Task<> SimJournal::put_all(std::vector<Entry> entries) {
    std::size_t bytes = 0;
    for (const auto& [name, there] : seen_) bytes += name.size() + there.size();
    for (const auto& [key, value] : entries) {
        if (key.empty() || key.size() > key_bytes_max || value.size() > value_bytes_max)
            co_return fail(Code::invalid, fmt::format("the journal takes no entry '{}' of {} bytes",
                                                      key.substr(0, 64), value.size()));
        bytes += key.size() + value.size();
    }
    if (bytes > bytes_max) co_return fail(Code::exhausted, "the journal has reached what it may hold");
    CO_TRY(co_await in_turn(line_, put_each(entries)));
    for (auto& [key, value] : entries) seen_[std::move(key)] = std::move(value);
    co_return Result<>{};
}

Task<> SimJournal::erase(std::string key) {
    CO_TRY(co_await in_turn(line_, change(disk_, timers_, [&] { disk_.journal.erase(key); }, false)));
    seen_.erase(key);
    co_return Result<>{};
}

namespace {

std::unexpected<Error> no_volume_name(const std::string& id) {
    return fail(Code::invalid, fmt::format("'{}' is no name for a volume", id));
}

bool overlap(const NetworkSpec& a, const NetworkSpec& b) {
    return parse_ipv4_subnet(a.subnet)->overlaps(*parse_ipv4_subnet(b.subnet));
}

}  // namespace

Task<> SimVolumes::create(std::string id, std::uint64_t size_bytes) {
    if (!is_plain_name(id)) co_return no_volume_name(id);
    if (!disk_.volumes_refused.empty())
        co_return fail(Code::invalid, "this host keeps no volumes: " + disk_.volumes_refused,
                       "volumes_refused");
    const auto there = disk_.volumes.find(id);
    const auto size = std::max(size_bytes, size_min);
    const auto before = there == disk_.volumes.end() ? 0 : there->second;
    if (there != disk_.volumes.end() && before >= size) co_return Result<>{};
    std::uint64_t all = size - before;
    for (const auto& [other, bytes] : disk_.volumes) all += bytes;
    if (all > disk_.volume_bytes_max)
        co_return fail(Code::exhausted,
                       fmt::format("volume {} of {} bytes does not fit on the disk", id, size), "disk_full");
    co_return co_await change(disk_, timers_, [&] { disk_.volumes[id] = size; }, true);
}

Task<HostVolumes::Attached> SimVolumes::attach(std::string id, IdRange) {
    if (!disk_.volumes.contains(id))
        co_return fail(Code::not_found, fmt::format("there is no volume {} on this host", id));
    co_return Attached{"/volumes/" + id, ""};
}

Task<> SimVolumes::remove(std::string id) {
    if (!is_plain_name(id)) co_return no_volume_name(id);
    co_return co_await change(disk_, timers_, [&] { disk_.volumes.erase(id); }, false);
}

Task<std::vector<std::string>> SimVolumes::list() {
    std::vector<std::string> ids;
    for (const auto& [id, size] : disk_.volumes) ids.push_back(id);
    co_return ids;
}

Task<HostVolumes::Room> SimVolumes::room() { co_return Room{disk_.volume_bytes_max, disk_.volumes_refused}; }

Task<std::map<std::string, DiskUse>> SimVolumes::uses() {
    constexpr std::int64_t inode_bytes = 512, own_inodes = 4;
    std::map<std::string, DiskUse> uses;
    for (const auto& [id, size] : disk_.volumes) {
        if (disk_.use) {
            uses[id] = disk_.use(id, size);
            continue;
        }
        const auto total = static_cast<std::int64_t>(size);
        uses[id] = {.used_bytes = total / 50,  // Of its file system itself.
                    .total_bytes = total,
                    .used_inodes = own_inodes,
                    .total_inodes = total / 4 / inode_bytes};
    }
    co_return uses;
}

Task<> SimNetworks::ensure(NetworkSpec spec) {
    CO_TRY(validate(spec));
    for (const auto& [id, there] : disk_.networks) {
        if (id == spec.id && (there.subnet != spec.subnet || there.gateway != spec.gateway))
            co_return fail(Code::conflict, fmt::format("the network {} has the subnet {} and the gateway {}",
                                                       id, there.subnet, there.gateway));
        if (id != spec.id && overlap(there, spec))
            co_return fail(Code::conflict, fmt::format("the subnet {} overlaps that of the network {}, {}",
                                                       spec.subnet, id, there.subnet));
    }
    co_return co_await change(disk_, timers_, [&] { disk_.networks[spec.id] = spec; }, false);
}

Task<> SimNetworks::remove(std::string id) {
    if (disk_.networks_in_use.contains(id))
        co_return fail(Code::conflict, fmt::format("containers stand in the network {}", id));
    co_return co_await change(disk_, timers_, [&] { disk_.networks.erase(id); }, false);
}

Task<std::vector<std::string>> SimNetworks::list() {
    std::vector<std::string> ids;
    for (const auto& [id, spec] : disk_.networks) ids.push_back(id);
    co_return ids;
}

Task<> SimLogStore::keep(std::string instance, std::string text) {
    if (!is_plain_name(instance))
        co_return fail(Code::invalid, fmt::format("'{}' is no instance's name", instance));
    if (text.size() > text_max) text.erase(0, text.size() - text_max);
    co_return co_await change(
        disk_, timers_,
        [&] {
            disk_.logs[instance] = {text, ++disk_.last_log};
            if (disk_.logs.size() > disk_.logs_max)
                disk_.logs.erase(std::ranges::min_element(disk_.logs, {},
                                                          [](const auto& log) { return log.second.number; }));
        },
        true);
}

Task<std::string> SimLogStore::read(std::string instance, std::size_t bytes_max) {
    const auto found = disk_.logs.find(instance);
    if (found == disk_.logs.end())
        co_return fail(Code::not_found, fmt::format("there are no logs of {}", instance));
    const std::string& text = found->second.text;
    co_return text.substr(text.size() - std::min(bytes_max, text.size()));
}

}  // namespace hostler::sim
