#include "roles/master/placement/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_placement.h"
#include "core/quantity.h"
#include "domain/billing/money.h"
#include "roles/master/billing/prices.h"
#include "roles/master/http/api.h"
#include "roles/master/policy/policies.h"
#include "roles/master/quota/amounts.h"
#include "roles/master/quota/enforce.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/state/near.h"
#include "roles/master/stock/reclaim.h"
#include "roles/master/stock/slots.h"

namespace hostler::master {

namespace {

struct AskedTasks {
    std::vector<Demand> demands;
    std::vector<std::string> images;  // Of each.
    Gang gang;
    bool whole = true;  // Only whole GPUs.
    PolicyRequest asked;
};

// The parts of the request that policies restrict.
void add_to(PolicyRequest& asked, const api::PlacementTask& task, const std::string& path,
            const std::vector<std::string>& zones) {
    asked.place = {path + "placement.zones", ""};
    if (task.spec_name) asked.specs.push_back({path + "specName", *task.spec_name});
    if (task.image) asked.images.push_back({path + "image", *task.image});
    for (std::size_t i = 0; i < zones.size(); ++i)
        asked.zones.push_back({fmt::format("{}placement.zones[{}]", path, i), zones[i]});
}

// The answer where policies forbid it, or narrow where it may go.
void explain_policies(const Desk& desk, const std::string& tenant, const PolicyRequest& asked,
                      api::PlacementAnswer& answer) {
    if (const auto allowed = check_allowed(desk, tenant, asked); !allowed) {
        answer = {.denial = api::PlacementDenial{.never = true,
                                                 .sentence = allowed.error().message + ".",
                                                 .would_help = allowed.error().help}};
    } else if (answer.denial) {
        answer.denial->sentence += narrowing_sentence(desk, tenant);
    }
}

// One task as often as it is asked for.
void add_task(const Desk& desk, const std::string& tenant, const api::PlacementTask& task,
              const std::string& path, AskedTasks& into, std::vector<FieldError>& wrong) {
    Demand demand;
    if (task.spec_name) {
        if (const Spec* spec = desk.estate.specs.find(*task.spec_name))
            demand = demand_of(*spec, "");
        else
            wrong.push_back({path + "specName", no_such_in(desk.estate.specs, "spec", *task.spec_name)});
    }
    if (task.gpus) demand.gpu_count = *task.gpus;
    if (task.gpu_milli || task.profile) demand.gpu_count = 1;
    const auto amount = [](const std::string& text) { return parse_quantity(text).value_or(Quantity{}); };
    if (task.cpu) demand.cpu_milli = amount(*task.cpu).milli;
    if (task.memory) demand.memory_bytes = amount(*task.memory).units();
    if (task.disk) demand.volume_bytes = amount(*task.disk).units();
    if (task.placement) demand.wishes = wishes_of(desk, *task.placement, path + "placement.", wrong);
    add_to(into.asked, task, path, demand.wishes.terms.zones);
    narrow(demand.wishes.terms, policies_of(desk, tenant));
    if (!demand.wishes.group.empty()) demand.kind = group_key(tenant, demand.wishes.group);
    Need need;
    need.shape.gpu_milli = task.gpu_milli.value_or(demand.gpu_count > 0 ? gpu_whole : 0);
    need.shape.disk_bytes = demand.volume_bytes;
    if (task.gpu_milli) need.shape.owner = 1;  // All of them are one tenant's.
    if (task.profile) {
        need.shape.profile = mig_profile_number(*task.profile);
        if (need.shape.profile == 0)
            wrong.push_back({path + "profile", fmt::format("no GPU has slices {}", *task.profile)});
    }
    into.whole = into.whole && !task.gpu_milli && !task.profile;
    for (int i = 0; i < task.count; ++i) {
        into.demands.push_back(demand);
        into.images.push_back(task.image.value_or(""));
        into.gang.tasks.push_back(need);
    }
}

api::PlacementDenial shown_as(const Denial& denial) {
    api::PlacementDenial shown{
        .never = denial.never, .sentence = denial.sentence, .would_help = denial.would_help};
    for (const Reason& reason : denial.reasons)
        shown.reasons.push_back({std::string{token_of(reason.obstacle)}, reason.hosts});
    for (const std::size_t task : denial.fitting) shown.fitting.push_back(static_cast<int>(task));
    return shown;
}

// An idle slot of its spec would be taken: nothing but the spec says how large it is.
const Slot* slot_for(const Desk& desk, const api::PlacementTask& task, const AskedTasks& asked,
                     const Room::May& may) {
    if (!task.spec_name || task.gpus || task.cpu || task.memory) return nullptr;
    return idle_slot(desk, *task.spec_name, asked.demands[0], asked.images[0], may);
}

std::vector<api::StockGivingWay> giving_way(const Desk& desk, const std::vector<std::string>& claims) {
    std::map<std::string, api::StockGivingWay> by_spec;
    for (const std::string& id : claims) {
        const Claim& held = desk.estate.claims.at(id);
        const std::string& spec = desk.estate.slots.at(held.holder).spec;
        api::StockGivingWay& shown = by_spec[spec];
        shown.spec_name = spec;
        ++shown.slots;
        shown.gpus += static_cast<int>(held.gpus.size());
    }
    std::vector<api::StockGivingWay> all;
    for (auto& [spec, shown] : by_spec) all.push_back(std::move(shown));
    return all;
}

// A single task of whole GPUs goes where an instance would.
void place_one(const Desk& desk, const api::PlacementTask& task, const AskedTasks& asked,
               api::PlacementAnswer& answer, const Room::May& may) {
    if (const Slot* slot = slot_for(desk, task, asked, may)) {
        const Claim& held = desk.estate.claims.at(slot->claim);
        answer.places.push_back({.host = held.host, .zone = held.zone, .gpus = held.gpus});
        answer.from_stock = true;
        return;
    }
    const Decision decision =
        room(desk).place(desk, asked.demands[0], asked.images[0], may, [&desk] { return idle_stock(desk); });
    if (!decision.placement) {
        answer.denial = shown_as(*decision.denial);
        return;
    }
    answer.places.push_back({.host = decision.placement->host,
                             .zone = decision.placement->zone,
                             .gpus = decision.placement->gpus});
    answer.gives_way = giving_way(desk, decision.reclaimed);
}

// What the tasks would use, as instances and the volumes that they ask for.
Amounts would_use(const Desk& desk, const AskedTasks& asked, const api::PlacementAnswer& answer) {
    Amounts all;
    for (const Demand& demand : asked.demands) {
        add(all, amounts_of(demand));
        add(all, {{"volumes", demand.volume_bytes}});
    }
    if (answer.places.empty()) return all;
    std::erase_if(all, [](const auto& row) { return row.first.starts_with(gpu_class_prefix); });
    for (const api::PlannedTask& place : answer.places) {
        Amounts held = amounts_of(desk, Claim{.host = place.host, .gpus = place.gpus});
        held.erase(std::string{gpus_resource});
        add(all, held);
    }
    return all;
}

// A quota refuses what hosts have room for, and what they have none for. A single task goes where it would be
// let: to another model where a class of GPUs is full.
std::optional<QuotaDenial> ask_quotas(const Desk& desk, const QuotaAsker& asker,
                                      const api::PlacementTask& task, const AskedTasks& asked,
                                      api::PlacementAnswer& answer) {
    auto first = quota_denial(desk, asker, would_use(desk, asked, {}));
    if (!first) first = quota_denial(desk, asker, would_use(desk, asked, answer));
    const bool single = asked.demands.size() == 1 && asked.whole && !answer.places.empty();
    std::set<std::string> full;
    for (auto denied = first; denied; denied = quota_denial(desk, asker, would_use(desk, asked, answer))) {
        const bool of_class = denied->resource.starts_with(gpu_class_prefix);
        if (!single || !of_class || !full.insert(denied->resource).second) return first;
        answer = {};
        place_one(desk, task, asked, answer, [&](const std::string& host) {
            return std::ranges::none_of(full,
                                        [&](const std::string& one) { return has_gpus_of(desk, host, one); });
        });
        if (answer.places.empty()) return first;
    }
    return std::nullopt;
}

}  // namespace

Result<api::PlacementAnswer> explain_placement(const Desk& desk, const api::Call& call,
                                               const api::ExplainPlacement& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    std::vector<api::PlacementTask> tasks = request.tasks;
    if (tasks.empty())
        tasks.push_back({.spec_name = request.spec_name,
                         .gpus = request.gpus,
                         .gpu_milli = request.gpu_milli,
                         .profile = request.profile,
                         .cpu = request.cpu,
                         .memory = request.memory,
                         .disk = request.disk,
                         .image = request.image,
                         .placement = request.placement});
    AskedTasks asked;
    std::vector<FieldError> wrong;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i].placement) TRY(may_ask(call.caller, *tasks[i].placement));
        add_task(desk, tenant, tasks[i], request.tasks.empty() ? "" : fmt::format("tasks[{}].", i), asked,
                 wrong);
    }
    TRY(all_right(std::move(wrong)));
    asked.gang.together = area_of(request.together);
    asked.gang.wanted_together = area_of(request.together_wanted);

    api::PlacementAnswer answer;
    if (asked.demands.size() == 1 && asked.whole) {
        place_one(desk, tasks[0], asked, answer, nullptr);
    } else {
        const Plan plan = room(desk).plan(asked.demands, asked.gang, [&desk] { return idle_stock(desk); });
        answer.gives_way = giving_way(desk, plan.reclaimed);
        for (const Place& place : plan.places) {
            api::PlannedTask& shown = answer.places.emplace_back();
            shown.task = static_cast<int>(answer.places.size()) - 1;
            shown.host = place.host;
            shown.zone = place.zone;
            shown.gpus = place.gpus;
            if (place.slice >= 0) shown.slice = place.slice;
        }
        if (plan.denial) answer.denial = shown_as(*plan.denial);
    }
    explain_policies(desk, tenant, asked.asked, answer);
    // It is told to those alone who could start something there.
    const std::string project = request.project.value_or(std::string{default_project});
    const bool starts =
        !tenant.empty() && may(call, Permission::instance_write, Scope::of_project(tenant, project));
    if (starts && !(answer.denial && answer.denial->never))
        if (auto denied = ask_quotas(desk, {tenant, project, call.caller.actor}, tasks[0], asked, answer)) {
            answer = {};
            answer.denial = api::PlacementDenial{.sentence = denied->error.message + ".",
                                                 .would_help = denied->error.help};
        }
    answer.fits = !answer.places.empty();
    return answer;
}

}  // namespace hostler::master
