#include "adapters/sim/storage.h"

#include <fmt/format.h>

namespace hostler::sim {

Task<> change(Disk& disk, Timers& timers, std::function<void()> effect, bool grows) {
    const auto some = [&] {
        return Duration{static_cast<std::int64_t>(
            disk.dice.below(static_cast<std::uint64_t>(disk.faults.time.count()) + 1))};
    };
    CO_TRY(co_await sleep(timers, some()));
    if (grows && disk.faults.full)
        co_return fail(Code::exhausted, "the disk is full; make room on it", "disk_full");
    const bool failed = disk.dice.chance(disk.faults.fail);
    if (!failed || disk.dice.chance(0.5)) effect();
    CO_TRY(co_await sleep(timers, some()));
    if (failed) co_return fail(Code::unavailable, "the disk failed");
    co_return Result<>{};
}

Task<> SimJournal::put(std::string key, std::string value) {
    constexpr std::size_t value_max = 1 << 20;
    if (value.size() > value_max)
        co_return fail(Code::invalid, fmt::format("the journal's value of {} is too large", key));
    CO_TRY(co_await change(disk_, timers_, [&] { disk_.journal[key] = value; }, true));
    seen_[std::move(key)] = std::move(value);
    co_return Result<>{};
}

Task<> SimJournal::erase(std::string key) {
    CO_TRY(co_await change(disk_, timers_, [&] { disk_.journal.erase(key); }, false));
    seen_.erase(key);
    co_return Result<>{};
}

Task<std::string> SimVolumes::create(std::string id, std::uint64_t size_bytes) {
    if (!disk_.volumes.contains(id))
        CO_TRY(co_await change(disk_, timers_, [&] { disk_.volumes.emplace(id, size_bytes); }, true));
    co_return "/volumes/" + id;
}

Task<> SimVolumes::remove(std::string id) {
    return change(disk_, timers_, [this, id = std::move(id)] { disk_.volumes.erase(id); }, false);
}

Task<std::vector<std::string>> SimVolumes::list() {
    std::vector<std::string> ids;
    for (const auto& [id, size] : disk_.volumes) ids.push_back(id);
    co_return ids;
}

Task<std::string> SimVolumes::path(std::string id) {
    if (!disk_.volumes.contains(id))
        co_return fail(Code::not_found, fmt::format("there is no volume {} on this host", id));
    co_return "/volumes/" + id;
}

Task<> SimNetworks::ensure(NetworkSpec spec) {
    for (const auto& [id, there] : disk_.networks) {
        if (id == spec.id && there.subnet != spec.subnet)
            co_return fail(Code::conflict, fmt::format("the network {} has the subnet {}, not {}", id,
                                                       there.subnet, spec.subnet));
        if (id != spec.id && there.subnet == spec.subnet)
            co_return fail(Code::conflict,
                           fmt::format("the subnet {} belongs to the network {}", spec.subnet, id));
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
    if (text.size() > text_max) text.erase(0, text.size() - text_max);
    co_return co_await change(disk_, timers_, [&] { disk_.logs[instance] = text; }, true);
}

Task<std::string> SimLogStore::read(std::string instance, std::size_t bytes_max) {
    const auto found = disk_.logs.find(instance);
    if (found == disk_.logs.end())
        co_return fail(Code::not_found, fmt::format("there are no logs of {}", instance));
    const std::string& text = found->second;
    co_return text.substr(text.size() - std::min(bytes_max, text.size()));
}

}  // namespace hostler::sim
