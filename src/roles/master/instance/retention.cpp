#include "roles/master/instance/retention.h"

#include <algorithm>
#include <ranges>

#include "roles/master/state/retention.h"

namespace hostler::master {

namespace {

// Instances that left nothing behind on a host and that nobody may repair any more, the longest ended first.
std::vector<std::string> ended_instances(const Desk& desk) {
    std::vector<std::pair<std::int64_t, std::string>> ended;
    for (const Instance* instance : desk.estate.instances.by().work.of(InstanceWork::archive))
        ended.emplace_back(instance->ended_at, instance->id);
    std::ranges::sort(ended);
    const auto before = [&](std::chrono::seconds kept) {
        return desk.estate.micros() - std::chrono::microseconds{kept}.count();
    };
    const std::int64_t seen = before(desk.settings.ended_in_memory);
    const std::int64_t repaired = before(desk.settings.ended_kept);
    std::map<std::string_view, std::size_t> repairable;  // By tenant; the newest count.
    std::set<std::string_view> over;
    for (const auto& [at, id] : ended | std::views::reverse) {
        const Instance& instance = desk.estate.instances.at(id);
        if (at > seen) continue;
        if (!is_repairable(instance) || at <= repaired ||
            ++repairable[instance.tenant] > desk.settings.repairable_tenant_max)
            over.insert(id);
    }
    std::size_t stay = ended.size() - over.size();
    std::vector<std::string> ids;
    for (const auto& [at, id] : ended) {
        const bool beyond = !over.contains(id) && stay > desk.settings.ended_in_memory_max;
        if (beyond) --stay;
        if (beyond || over.contains(id)) ids.push_back(id);
    }
    return ids;
}

}  // namespace

void keep_name(Desk& desk, UsedName name) {
    const std::string id = name.id;
    desk.live.archiving.insert(id);
    desk.estate.used_names.add(std::move(name));
    desk.estate.used_names.retire(id);
}

bool archive_instances(Desk& desk) {
    constexpr std::size_t at_once = 64;  // A few milliseconds of the estate's thread.
    const auto over = ended_instances(desk);
    for (std::size_t i = 0; i < std::min(at_once, over.size()); ++i) {
        const Instance& instance = desk.estate.instances.at(over[i]);
        // Whose name another has by now is answered for by its id. Nobody could delete one that has an owner:
        // its name is free without that.
        if (!instance.name_passed_on)
            keep_name(desk, {.id = UsedName::id_of(instance.tenant, instance.caller_id),
                             .instance = instance.id,
                             .free = instance.deleted || instance.owner.has_value()});
        retire(desk, desk.estate.instances, over[i]);
    }
    return over.size() > at_once;
}

}  // namespace hostler::master
