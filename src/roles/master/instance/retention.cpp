#include "roles/master/instance/retention.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "roles/master/state/retention.h"

namespace hostler::master {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::max();

std::int64_t before(const Desk& desk, std::chrono::seconds time) {
    return desk.estate.micros() - std::chrono::microseconds{time}.count();
}

// Of those that ended before `seen` and that their tenants may repair: the ones beyond the newest of each
// tenant.
std::vector<const Instance*> too_many_to_repair(const Desk& desk, std::int64_t seen) {
    const auto& repairable = desk.estate.instances.by().repairable;
    if (repairable.entries() <= desk.settings.repairable_tenant_max) return {};
    std::vector<const Instance*> beyond;
    std::map<std::string_view, std::size_t> kept;
    for (const Instance* instance : repairable.between(never, seen) | std::views::reverse)
        if (++kept[instance->tenant] > desk.settings.repairable_tenant_max) beyond.push_back(instance);
    return beyond;
}

// Up to `most` instances that left nothing behind on a host and that nobody may repair any more, the longest
// ended first.
std::vector<std::string> ended_instances(const Desk& desk, std::size_t most) {
    const auto& by = desk.estate.instances.by();
    using Ended = std::set<std::pair<std::int64_t, std::string>>;
    const auto add = [](Ended& to, const std::vector<const Instance*>& instances) {
        for (const Instance* instance : instances) to.emplace(instance->ended_at, instance->id);
    };
    Ended over;
    const std::int64_t seen = before(desk, desk.settings.ended_in_memory);
    add(over, by.ended.between(never, seen, most));
    add(over, by.repairable.between(never, std::min(seen, before(desk, desk.settings.ended_kept)), most));
    add(over, too_many_to_repair(desk, seen));
    if (over.size() < most) {  // These are all; of the others those that are too many.
        const std::size_t stay = by.ended.entries() + by.repairable.entries() - over.size();
        const std::size_t beyond =
            std::min(stay - std::min(stay, desk.settings.ended_in_memory_max), most - over.size());
        Ended oldest;
        for (const auto* index : {&by.ended, &by.repairable})
            if (beyond > 0) add(oldest, index->between(never, ever, over.size() + beyond));
        const std::size_t wanted = over.size() + beyond;
        for (auto at = oldest.begin(); over.size() < wanted; ++at) over.insert(*at);
    }
    std::vector<std::string> ids;
    for (const auto& [at, id] : over | std::views::take(most)) ids.push_back(id);
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
    const auto over = ended_instances(desk, at_once + 1);
    for (const std::string& id : over | std::views::take(at_once)) {
        const Instance& instance = desk.estate.instances.at(id);
        // Whose name another has by now is answered for by its id. Nobody could delete one that has an owner:
        // its name is free without that.
        if (!instance.name_passed_on)
            keep_name(desk, {.id = UsedName::id_of(instance.tenant, instance.caller_id),
                             .instance = instance.id,
                             .free = instance.deleted || instance.owner.has_value()});
        retire(desk, desk.estate.instances, id);
    }
    return over.size() > at_once;
}

}  // namespace hostler::master
