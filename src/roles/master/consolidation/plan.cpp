// What a consolidation would do: the estate as the scheduler's fleet sees it, with what may be moved apart.
#include <fmt/format.h>

#include <algorithm>

#include "api/types_consolidation.h"
#include "domain/scheduler/consolidate.h"
#include "roles/master/command/commands.h"
#include "roles/master/consolidation/execution.h"
#include "roles/master/policy/policies.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/near.h"
#include "roles/master/unmanaged/unmanaged.h"

namespace hostler::master {

namespace {

constexpr int places_kept = 128;               // Addresses of a host to which something is to be moved.
constexpr std::string_view leases = "leases";  // Label of hosts on which what may move may run.

struct Load {
    std::string workload;
    bool stock = false;
    const Claim* claim = nullptr;
    const Spec* spec = nullptr;
};

bool speaks(const Desk& desk, const Host& host) {
    const auto live = desk.live.hosts.find(host.id);
    return host.phase == HostPhase::ready && host.quarantined.empty() && live != desk.live.hosts.end() &&
           live->second.connected && live->second.complete && !awaits_word(desk, host.id);
}

class Yard {
public:
    Yard(const Desk& desk, const std::string& zone, int moves_max)
        : desk_(desk), moves_max_(moves_max), fleet_(room(desk).learned()) {
        std::map<std::string, std::vector<Load>> by_host;
        for (const auto& [id, slot] : desk.estate.slots.all())
            if (slot.phase == SlotPhase::idle)
                take({id, true, &desk.estate.claims.at(slot.claim), desk.estate.specs.find(slot.spec)},
                     by_host);
        for (const auto& [id, instance] : desk.estate.instances.all())
            if (immovable(desk, instance).empty())
                take({id, false, &desk.estate.claims.at(instance.claim),
                      desk.estate.specs.find(instance.spec_name)},
                     by_host);
        for (const Room::Known& known : room(desk).order()) {
            const Host& host = desk.estate.hosts.at(known.host);
            if (zone.empty() || host.zone == zone) add(host, known, std::move(by_host[known.host]));
        }
    }

    ConsolidationRecord best() const {
        ConsolidationRecord plan;
        const Consolidation found = consolidate(fleet_, workloads_, static_cast<std::size_t>(moves_max_));
        for (const Move& move : found.moves) plan.steps.push_back(step(move.workload, move.to.host));
        for (const HostNumber host : found.freed) plan.freed.push_back(hosts_[host]);
        plan.gpus = found.gpus;
        return plan;
    }

    // All are claimed before the first is released, as they will be.
    Result<ConsolidationRecord> wanted(const std::vector<api::WantedMove>& moves) {
        ConsolidationRecord plan;
        std::set<std::size_t> moved;
        std::set<HostNumber> receiving;
        for (const api::WantedMove& move : moves) {
            const auto load = std::ranges::find(loads_, move.workload, &Load::workload);
            const auto at = static_cast<std::size_t>(load - loads_.begin());
            if (load == loads_.end() || !moved.insert(at).second)
                return outdated(move, "it does not exist, may not be moved, or is named twice");
            Need need = workloads_[at].need;
            need.terms.hosts = {move.to};
            const auto to = fleet_.choose(need);
            if (!to || move.to == load->claim->host) return outdated(move, "there is no room for it");
            HOSTLER_ASSERT(fleet_.claim(*to));
            receiving.insert(to->host);
            plan.steps.push_back(step(at, to->host));
        }
        for (const std::size_t at : moved) fleet_.release(workloads_[at].held);
        for (const std::size_t at : moved) {
            const HostNumber from = workloads_[at].held.host;
            if (receiving.contains(from) || fleet_.at(from) != fleet_.whole(from) ||
                std::ranges::count(plan.freed, hosts_[from]) > 0)
                continue;
            plan.freed.push_back(hosts_[from]);
            plan.gpus += fleet_.whole(from).gpus;
        }
        return plan;
    }

private:
    static std::unexpected<Error> outdated(const api::WantedMove& move, std::string_view why) {
        Error error{Code::conflict,
                    fmt::format("{} can no longer be moved to {}: {}", move.workload, move.to, why),
                    "plan_outdated"};
        error.help = "Plan again: nothing was done.";
        return std::unexpected(std::move(error));
    }

    ConsolidationStep step(std::size_t load, HostNumber to) const {
        return {.workload = loads_[load].workload,
                .stock = loads_[load].stock,
                .from = loads_[load].claim->host,
                .to = hosts_[to]};
    }

    void take(Load load, std::map<std::string, std::vector<Load>>& by_host) const {
        const Host* host = desk_.estate.hosts.find(load.claim->host);
        if (load.spec && host && speaks(desk_, *host) && fit(desk_, *load.claim))
            by_host[host->id].push_back(std::move(load));
    }

    static Choice held(HostNumber number, const Host& host, const Claim& claim) {
        Choice choice{.host = number, .cpu_milli = claim.cpu_milli, .memory_bytes = claim.memory_bytes};
        for (std::size_t i = 0; i < host.facts.gpus.size(); ++i)
            if (std::ranges::count(claim.gpus, host.facts.gpus[i].uuid) > 0)
                choice.gpus.push_back(static_cast<int>(i));
        if (!choice.gpus.empty()) choice.gpu_milli = gpu_whole;
        return choice;
    }

    // What is on it and cannot be moved, as one.
    std::optional<Choice> rest(const Host& host, const Room::There& there, const Machine& whole,
                               const std::vector<Load>& loads) const {
        Choice rest{.cpu_milli = whole.cpu_milli - there.free.cpu_milli,
                    .memory_bytes = whole.memory_bytes - there.free.memory_bytes};
        std::set<std::string> others;
        for (const FreeGpu& gpu : there.free.gpus) others.insert(gpu.uuid);
        for (const Load& load : loads) {
            rest.cpu_milli -= load.claim->cpu_milli;
            rest.memory_bytes -= load.claim->memory_bytes;
            others.insert(load.claim->gpus.begin(), load.claim->gpus.end());
        }
        for (std::size_t i = 0; i < host.facts.gpus.size(); ++i)
            if (whole.free[i] > 0 && !others.contains(host.facts.gpus[i].uuid))
                rest.gpus.push_back(static_cast<int>(i));
        if (!rest.gpus.empty()) rest.gpu_milli = gpu_whole;
        // However little it uses, it is there.
        if (there.claims.size() > loads.size())
            rest.memory_bytes = std::max<std::int64_t>(rest.memory_bytes, 1);
        const bool sound = rest.cpu_milli >= 0 && rest.memory_bytes >= 0 && there.free.cpu_milli >= 0 &&
                           there.free.memory_bytes >= 0 && rest.memory_bytes <= whole.memory_bytes;
        return sound ? std::optional{rest} : std::nullopt;
    }

    // A host of which the numbers do not say all is left alone.
    void add(const Host& host, const Room::Known& known, std::vector<Load> loads) {
        const Room::There& there = room(desk_).hosts().at(host.id);
        if (!there.plain) return;
        Machine whole{.model = known.machine.model,
                      .cpu_milli = there.free.cpu_total_milli,
                      .memory_bytes = there.free.memory_total_bytes,
                      .gpus = static_cast<int>(host.facts.gpus.size())};
        for (std::size_t i = 0; i < host.facts.gpus.size(); ++i)
            if (!host.facts.gpus[i].cdi_name.empty() && usable(host, host.facts.gpus[i].uuid))
                whole.free[i] = gpu_whole;
        auto stays = rest(host, there, whole, loads);
        if (!stays) return;
        Traits traits = known.traits;
        if (const auto live = desk_.live.hosts.find(host.id);
            live != desk_.live.hosts.end() && live->second.keeps_leases)
            traits.labels[std::string{leases}] = "kept";
        const HostNumber number = fleet_.add(whole, traits);
        HOSTLER_ASSERT(number == hosts_.size());
        hosts_.push_back(host.id);
        stays->host = number;
        if (stays->cpu_milli > 0 || stays->memory_bytes > 0 || !stays->gpus.empty())
            HOSTLER_ASSERT(fleet_.claim(*stays));
        for (Load& load : loads) {
            Movable movable{need_of(load, host), held(number, host, *load.claim)};
            HOSTLER_ASSERT(fleet_.claim(movable.held));
            workloads_.push_back(std::move(movable));
            loads_.push_back(std::move(load));
        }
        // (Of addresses there must be enough for all that may come.)
        if (!there.free.unavailable.empty() || there.free.places < std::min(moves_max_, places_kept))
            fleet_.close(number, Obstacle::cordoned);
    }

    Need need_of(const Load& load, const Host& host) const {
        Need need{.shape = room(desk_).shape_of(demand_of(*load.spec, "")), .models = load.spec->gpu_type};
        const Instance* instance = desk_.estate.instances.find(load.workload);
        if (instance && instance->spec.placement) need.terms = instance->spec.placement->terms;
        need.terms.zones = {host.zone};
        if (instance) narrow(need.terms, policies_of(desk_, instance->tenant));
        if (!load.stock) need.terms.labels[std::string{leases}] = "kept";
        return need;
    }

    const Desk& desk_;
    int moves_max_;
    Fleet fleet_;
    std::vector<std::string> hosts_;  // By number.
    std::vector<Load> loads_;
    std::vector<Movable> workloads_;  // As those.
};

}  // namespace

std::string immovable(const Desk& desk, const Instance& instance) {
    if (instance.spec.loss_policy != LossPolicy::move) return "its loss policy is to stay";
    if (!instance.spec.volumes.empty()) return "it has volumes";
    if (const auto& wishes = instance.spec.placement) {
        if (wishes->apart != Area::none) return "it is kept apart from others of its group";
        if (wishes->link != Link::any) return "its GPUs have to reach each other fast";
    }
    if (instance.adopted) return "it was adopted, and its start parameters are unknown";
    if (instance.phase != InstancePhase::running && instance.phase != InstancePhase::probing)
        return fmt::format("it is {}", state_of(instance.phase));
    if (!instance.left.empty()) return "it still holds resources on another host";
    if (commanded(desk, instance.id)) return "its host is about to do something with it";
    return {};
}

Result<ConsolidationRecord> plan_consolidation(const Desk& desk, const api::CreateConsolidation& request) {
    if (request.zone && !desk.estate.zones.find(*request.zone)) {
        Error error{Code::invalid, no_such_in(desk.estate.zones, "zone", *request.zone), "invalid"};
        error.fields = {{"zone", "no such zone"}};
        return std::unexpected(std::move(error));
    }
    Yard yard{desk, request.zone.value_or(""), request.max_moves};
    ConsolidationRecord plan = request.moves.empty() ? yard.best() : TRY(yard.wanted(request.moves));
    plan.zone = request.zone.value_or("");
    plan.at_once = request.at_once;
    return plan;
}

}  // namespace hostler::master
