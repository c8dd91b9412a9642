#include "roles/master/consolidation/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/describe/enum_from_string.hpp>

#include "api/types_consolidation.h"
#include "core/counted.h"
#include "roles/master/command/commands.h"
#include "roles/master/host/view.h"
#include "roles/master/run/left.h"
#include "roles/master/run/places.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/views.h"
#include "roles/master/stock/slots.h"
#include "roles/master/unmanaged/unmanaged.h"

namespace hostler::master {

namespace {

constexpr std::int64_t look_again_us = 5'000'000;  // For room elsewhere.

// One consolidation, a step further; what it holds is noted in `run`.
class Steps {
public:
    Steps(Desk& desk, ConsolidationRecord& run) : desk_(desk), run_(run) {}

    void take() {
        for (ConsolidationStep& step : run_.steps) {
            const Instance* instance = desk_.estate.instances.find(step.workload);
            const bool ours =
                instance && instance->reason == consolidated &&
                (instance->phase == InstancePhase::halting || instance->phase == InstancePhase::resting);
            switch (plan_step(run_.phase, step.phase, instance ? instance->phase : InstancePhase::stopped,
                              ours)) {
                case StepAction::none: break;
                case StepAction::drop: step.phase = MoveState::dropped; break;
                case StepAction::begin: step.stock ? move_slot(step) : begin(step); break;
                case StepAction::start: start(step); break;
                case StepAction::give_up:
                    free_place(step);
                    end(step, MoveState::skipped, "it was ended, stopped or started by others meanwhile");
                    break;
            }
        }
        const bool over = std::ranges::all_of(run_.steps, [](const ConsolidationStep& step) {
            return step.phase != MoveState::waiting && step.phase != MoveState::stopping;
        });
        if (over) finish();
    }

private:
    void move_slot(ConsolidationStep& step) {
        const Slot* slot = desk_.estate.slots.find(step.workload);
        if (!slot || slot->phase != SlotPhase::idle || desk_.estate.claims.at(slot->claim).host != step.from)
            return end(step, MoveState::skipped, "the slot is in use, or elsewhere");
        const Spec& spec = desk_.estate.specs.at(slot->spec);
        const auto held = hold(step, demand_of(spec, ""), ClaimUse::stock, step.workload);
        if (!held) return;
        Slot& moved = desk_.estate.slots.edit(step.workload);
        desk_.estate.release(moved.claim);
        moved.claim = *held;
        desk_.estate.event("stock", spec.name, "", "slot_moved",
                           fmt::format("Slot {} was moved from {} to {}.", step.workload,
                                       host_name(desk_, step.from), host_name(desk_, step.to)));
        end(step, MoveState::done, "");
    }

    void begin(ConsolidationStep& step) {
        const auto stopping = std::ranges::count(run_.steps, MoveState::stopping, &ConsolidationStep::phase);
        if (stopping >= run_.at_once) return;
        const Instance* instance = desk_.estate.instances.find(step.workload);
        if (!instance || is_final(instance->phase) || instance->host != step.from)
            return end(step, MoveState::skipped, "it has ended, or is elsewhere");
        if (const std::string why = immovable(desk_, *instance); !why.empty())
            return end(step, MoveState::skipped, why);
        if (!may_run_at(desk_, *instance, step.to))
            return refuse(step, fmt::format("host {} cannot run what may move", host_name(desk_, step.to)));
        const Spec& spec = desk_.estate.specs.at(instance->spec_name);
        const auto held = hold(step, demand_of(desk_, spec, *instance), ClaimUse::reserved, step.workload);
        if (!held) return;
        step.claim = *held;
        step.slot = instance->slot;
        if (!step.slot.empty()) {
            desk_.estate.slots.edit(step.slot).claim = step.claim;
            desk_.estate.instances.edit(step.workload).slot.clear();
        }
        step.phase = MoveState::stopping;
        // What reads the estate while it is being stopped is to find the step.
        desk_.estate.consolidations.edit(run_.id) = run_;
        HOSTLER_ASSERT(halt_instance(desk_, step.workload, std::string{consolidated},
                                     fmt::format("it is moved from host {} to host {}",
                                                 host_name(desk_, step.from), host_name(desk_, step.to))));
    }

    // nullopt: there is no room; then the rest is not begun.
    std::optional<std::string> hold(ConsolidationStep& step, Demand demand, ClaimUse use,
                                    const std::string& holder) {
        demand.host = step.to;
        const Decision decision = room(desk_).place(desk_, demand);
        if (decision.placement) return claim(desk_, demand, *decision.placement, use, {.holder = holder}).id;
        refuse(step, fmt::format("host {} has no room now", host_name(desk_, step.to)));
        return std::nullopt;
    }

    void refuse(ConsolidationStep& step, std::string why) {
        if (const auto to = next(consolidation_life, run_.phase, ConsolidationEvent::refuse))
            run_.phase = *to;
        if (run_.message.empty()) run_.message = fmt::format("{}: {}", step.workload, why);
        end(step, MoveState::dropped, std::move(why));
    }

    void start(ConsolidationStep& step) {
        const Instance& resting_one = desk_.estate.instances.at(step.workload);
        if (!step.claim.empty()) {
            const Claim& held = desk_.estate.claims.at(step.claim);
            const Host* host = desk_.estate.hosts.find(step.to);
            const bool good = host && unavailable(desk_, *host).empty() && fit(desk_, held) &&
                              !used_by_foreign(desk_, held);
            if (good && !may_run_at(desk_, resting_one, step.to)) return;  // It has to say hello first.
            if (good && wake_at(desk_, step.workload, step.claim, step.slot)) {
                step.claim.clear(), step.slot.clear();
                return end(step, MoveState::done, "");
            }
            if (good)  // It is given back by whoever could not use it.
                step.claim.clear(), step.slot.clear();
            else
                free_place(step);
        }
        const std::string key = "consolidation/" + step.workload;
        if (resting(desk_, key)) return;
        if (const auto woken = wake_instance(desk_, step.workload, WantedBy::master); !woken) {
            desk_.live.rest_until[key] = desk_.estate.micros() + look_again_us;
            step.message = fmt::format("it waits for room elsewhere: {}", woken.error().message);
            return;
        }
        end(step, MoveState::done,
            fmt::format("it could not begin on host {} and is on {}", host_name(desk_, step.to),
                        host_name(desk_, desk_.estate.instances.at(step.workload).host)));
    }

    // A slot that was to come along is idle where it has come to; or looks for a place.
    void free_place(ConsolidationStep& step) {
        if (!step.slot.empty())
            refill(desk_, step.slot);
        else if (!step.claim.empty())
            desk_.estate.release(step.claim);
        step.claim.clear();
        step.slot.clear();
    }

    static void end(ConsolidationStep& step, MoveState phase, std::string message) {
        step.phase = phase;
        step.message = std::move(message);
    }

    void finish() {
        run_.phase = next(consolidation_life, run_.phase, ConsolidationEvent::finish).value();
        run_.ended_at = desk_.estate.micros();
        const auto done = std::ranges::count(run_.steps, MoveState::done, &ConsolidationStep::phase);
        desk_.estate.event("consolidation", run_.id, "", text_of(run_.phase),
                           fmt::format("{} of {} {} made.{}{}", done, counted(run_.steps.size(), "move"),
                                       run_.steps.size() == 1 ? "was" : "were",
                                       run_.message.empty() ? "" : " ", run_.message));
    }

    Desk& desk_;
    ConsolidationRecord& run_;
};

void follow(Desk& desk, const std::string& id) {
    ConsolidationRecord run = desk.estate.consolidations.at(id);
    Steps{desk, run}.take();
    if (run != desk.estate.consolidations.at(id)) desk.estate.consolidations.edit(id) = run;
}

}  // namespace

Result<const ConsolidationRecord*> begin_consolidation(Desk& desk, const api::CreateConsolidation& request) {
    for (const auto& [id, other] : desk.estate.consolidations.all())
        if (!is_final(other.phase)) {
            Error error{Code::conflict, fmt::format("consolidation {} is under way", id),
                        "consolidation_running"};
            error.help = fmt::format("Wait until it is over, or `hostler consolidation cancel {}`.", id);
            return std::unexpected(std::move(error));
        }
    ConsolidationRecord run = TRY(plan_consolidation(desk, request));
    if (run.steps.empty())
        return fail(Code::conflict, "no host could be freed by moving what may be moved", "nothing_to_move");
    run.id = new_id(desk.random, "co");
    run.created_at = desk.estate.micros();
    const std::string id = run.id;
    desk.estate.event("consolidation", id, "", "begun",
                      fmt::format("{} {} to free {} with {}.", counted(run.steps.size(), "move"),
                                  run.steps.size() == 1 ? "is" : "are", counted(run.freed.size(), "host"),
                                  counted(run.gpus, "GPU")));
    desk.estate.consolidations.add(std::move(run));
    follow(desk, id);
    return &desk.estate.consolidations.at(id);
}

Result<const ConsolidationRecord*> cancel_consolidation(Desk& desk, const std::string& id) {
    const ConsolidationRecord* run = desk.estate.consolidations.find(id);
    if (!run)
        return fail(Code::not_found, fmt::format("there is no consolidation {}", id),
                    "consolidation_not_found");
    if (is_final(run->phase))
        return fail(Code::conflict, fmt::format("consolidation {} is {}", id, text_of(run->phase)),
                    "consolidation_ended");
    if (const auto to = next(consolidation_life, run->phase, ConsolidationEvent::cancel)) {
        desk.estate.consolidations.edit(id).phase = *to;
        desk.estate.event("consolidation", id, "", "cancelling", "Nothing more is begun.");
        follow(desk, id);
    }
    return &desk.estate.consolidations.at(id);
}

void follow_consolidations(Desk& desk) {
    std::vector<std::string> ids;
    for (const auto& [id, run] : desk.estate.consolidations.all())
        if (!is_final(run.phase)) ids.push_back(id);
    for (const std::string& id : ids) follow(desk, id);
}

void forget_reservations(Desk& desk, const std::string& host) {
    std::vector<std::string> ids;
    for (const auto& [id, run] : desk.estate.consolidations.all())
        if (!is_final(run.phase)) ids.push_back(id);
    for (const std::string& id : ids) {
        ConsolidationRecord run = desk.estate.consolidations.at(id);
        for (ConsolidationStep& step : run.steps) {
            if (step.claim.empty() || step.to != host) continue;
            step.slot.empty() ? desk.estate.release(step.claim) : refill(desk, step.slot);
            step.claim.clear(), step.slot.clear();
        }
        if (run != desk.estate.consolidations.at(id)) desk.estate.consolidations.edit(id) = run;
    }
}

api::Consolidation view(const Desk& desk, const ConsolidationRecord& run) {
    api::Consolidation shown{.id = run.id,
                             .zone = run.zone,
                             .gpus = run.gpus,
                             .moves_total = static_cast<int>(run.steps.size()),
                             .at_once = run.at_once,
                             .message = run.message,
                             .created_at = wall_if(run.created_at),
                             .ended_at = wall_if(run.ended_at)};
    if (!run.id.empty()) boost::describe::enum_from_string(text_of(run.phase).c_str(), shown.state);
    for (const std::string& id : run.freed) {
        const Host* host = desk.estate.hosts.find(id);
        shown.freed_hosts.push_back({.host = id,
                                     .name = host_name(desk, id),
                                     .zone = host ? host->zone : "",
                                     .gpus = host ? static_cast<int>(host->facts.gpus.size()) : 0});
    }
    for (const ConsolidationStep& step : run.steps) {
        api::ConsolidationMove& move = shown.moves.emplace_back();
        move.workload = step.workload;
        move.kind = step.stock ? api::WorkloadKind::stock : api::WorkloadKind::instance;
        if (const Slot* slot = desk.estate.slots.find(step.workload)) move.name = move.spec_name = slot->spec;
        if (const Instance* instance = desk.estate.instances.find(step.workload)) {
            move.name = instance->caller_id;
            move.tenant_id = instance->tenant;
            move.spec_name = instance->spec_name;
        }
        if (const Spec* spec = desk.estate.specs.find(move.spec_name)) move.gpus = spec->gpu_count;
        move.from = step.from, move.from_name = host_name(desk, step.from);
        move.to = step.to, move.to_name = host_name(desk, step.to);
        boost::describe::enum_from_string(text_of(step.phase).c_str(), move.state);
        move.message = step.message;
        shown.restarts += !step.stock;
        shown.moves_done += step.phase != MoveState::waiting && step.phase != MoveState::stopping;
    }
    return shown;
}

}  // namespace hostler::master
