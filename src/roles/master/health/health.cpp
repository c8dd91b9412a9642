#include "roles/master/health/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/describe/enum_from_string.hpp>

#include "api/types_host.h"
#include "domain/health/table.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

std::vector<const Instance*> holders(const Desk& desk, const std::string& host, const std::string& gpu) {
    std::vector<const Instance*> found;
    for (const Claim* claim : desk.estate.claims.by().host.of(host)) {
        if (claim->use != ClaimUse::instance || std::ranges::count(claim->gpus, gpu) == 0) continue;
        if (const Instance* instance = desk.estate.instances.find(claim->holder)) found.push_back(instance);
    }
    return found;
}

void tell(Desk& desk, const std::vector<const Instance*>& instances, const std::string& reason,
          const std::string& message) {
    for (const Instance* instance : instances)
        desk.estate.event("instance", instance->id, instance->tenant, reason, message);
}

void tell_holders(Desk& desk, const std::string& host, const std::string& gpu, const std::string& reason,
                  const std::string& message) {
    tell(desk, holders(desk, host, gpu), reason, message);
}

const GpuState* state_of(const std::map<std::string, GpuState>& states, const std::string& gpu) {
    const auto found = states.find(gpu);
    return found == states.end() ? nullptr : &found->second;
}

std::string said(const std::string& gpu, const GpuState& state) {
    return state.reason.empty() ? fmt::format("GPU {} is {}.", gpu, text_of(state.health)) : state.reason;
}

api::GpuState shown_as(GpuHealth health) {
    api::GpuState shown = api::GpuState::faulty;
    boost::describe::enum_from_string(text_of(health).c_str(), shown);
    return shown;
}

std::string way_back(const GpuState& state, const std::string& gpu) {
    if (state.testing_until != 0)
        return "It is being tested. If no fault shows until then, and, with CUDA, a benchmark passes once it "
               "is unused, it takes work again automatically.";
    if (is_fit(state.health)) return "It takes work.";
    if (state.health == GpuHealth::unresponsive) return "It takes work again when its driver answers.";
    if (state.health == GpuHealth::gone)
        return fmt::format(
            "When it is back it is tested, and takes work if it is well. If it was removed permanently: "
            "hostler gpu return {}",
            gpu);
    return fmt::format(
        "When its host has seen the reset or the reboot, or that the cause is gone, it is tested for some "
        "minutes and then takes work automatically. If a reset cannot be seen: hostler gpu return {}",
        gpu);
}

}  // namespace

void tell_health(Desk& desk, const Host& before, const std::map<std::string, GpuState>& now) {
    for (const auto& [gpu, state] : now) {
        const GpuState* was = state_of(before.gpu_states, gpu);
        const GpuHealth health_before = was ? was->health : GpuHealth::healthy;
        // Counts and times are no news.
        if (was && was->health == state.health && was->reason == state.reason) continue;
        if (state.health == GpuHealth::healthy && health_before == GpuHealth::healthy) continue;
        desk.estate.event("gpu", gpu, "", text_of(state.health),
                          state.health == GpuHealth::healthy ? fmt::format("GPU {} is healthy again.", gpu)
                                                             : said(gpu, state));
        if (!is_fit(state.health) && is_fit(health_before))
            tell_holders(
                desk, before.id, gpu, "gpu_" + text_of(state.health),
                fmt::format("GPU {} is {}: {}. The instance is left alone; save what matters, and start "
                            "another: it gets other GPUs.",
                            gpu, text_of(state.health), said(gpu, state)));
        if (is_fit(state.health) && !is_fit(health_before))
            tell_holders(desk, before.id, gpu, "gpu_back", fmt::format("GPU {} works again.", gpu));
    }
    for (const auto& [gpu, state] : before.gpu_states) {
        if (now.contains(gpu) || state.health == GpuHealth::healthy) continue;
        desk.estate.event("gpu", gpu, "", "healthy", fmt::format("GPU {} is healthy again.", gpu));
        if (!is_fit(state.health))
            tell_holders(desk, before.id, gpu, "gpu_back", fmt::format("GPU {} works again.", gpu));
    }
}

void tell_faults(Desk& desk, const std::string& host, const std::vector<GpuFault>& faults) {
    constexpr std::int64_t rest_us = std::int64_t{10} * 60 * 1'000'000;
    constexpr std::size_t told_max = 1024;  // Those beyond wait until one of these is past.
    auto& told = desk.live.hosts[host].fault_told;
    const std::int64_t now = desk.estate.micros();
    std::erase_if(told, [&](const auto& row) { return now - row.second >= rest_us; });
    for (const GpuFault& fault : faults) {
        const auto means = health::meaning(fault);
        if (means.severity != health::Severity::app) continue;
        const auto instances = holders(desk, host, fault.uuid);
        if (instances.empty() || told.size() >= told_max) continue;
        if (!told.try_emplace({fault.uuid, fault.code}, now).second) continue;
        tell(desk, instances, fmt::format("gpu_{}", fault.kind),
             fmt::format("{} (GPU {}). {}", means.sentence, fault.uuid, sentence(means.remedy, fault.uuid)));
    }
}

std::string needs_reboot(const Host& host) {
    for (const auto& [gpu, state] : host.gpu_states)
        if (!is_fit(state.health) && state.remedy == Remedy::reboot)
            return fmt::format("GPU {}: {}", gpu, said(gpu, state));
    return {};
}

Result<FoundGpu> gpu_named(const Desk& desk, const std::string& uuid) {
    FoundGpu found;
    for (const Host* there : desk.estate.hosts.by().gpu.of(uuid)) {
        const Host& host = *there;
        const std::string& id = host.id;
        const auto gpu = std::ranges::find(host.facts.gpus, uuid, &GpuFacts::uuid);
        if (found.host)
            return fail(Code::conflict,
                        fmt::format("hosts {} and {} both say that they have GPU {}: remove the one that has "
                                    "it not",
                                    found.host->id, id, uuid),
                        "gpu_ambiguous");
        found = {&host, &*gpu};
    }
    if (!found.host) return fail(Code::not_found, fmt::format("there is no GPU {}", uuid), "gpu_not_found");
    return found;
}

api::GpuExplanation explain_gpu(const Desk& desk, const Host& host, const GpuFacts& gpu) {
    const GpuState* known = state_of(host.gpu_states, gpu.uuid);
    const GpuState state = known ? *known : GpuState{};
    api::GpuExplanation shown{.id = gpu.uuid, .host = host.id, .state = shown_as(state.health)};
    shown.sentence = state.reason.empty()
                         ? fmt::format("GPU {} is {}.", gpu.uuid, text_of(state.health))
                         : fmt::format("GPU {} is {}: {}.", gpu.uuid, text_of(state.health), state.reason);
    if (host.phase != HostPhase::ready)
        shown.sentence += fmt::format(" That is what its host said last; it is {}.", text_of(host.phase));
    shown.since = wall_if(state.since);
    if (known) shown.remedy = text_of(state.remedy);
    if (const std::string help = sentence(state.remedy, gpu.uuid); !help.empty()) shown.would_help = help;
    shown.way_back = way_back(state, gpu.uuid);
    shown.testing_until = wall_if(state.testing_until);
    for (const Instance* instance : holders(desk, host.id, gpu.uuid)) shown.running.push_back(instance->id);
    for (const GpuEvidence& one : state.evidence)
        shown.evidence.push_back({.kind = one.kind,
                                  .code = one.code,
                                  .count = one.count,
                                  .first_at = wall(one.first_at),
                                  .last_at = wall(one.last_at),
                                  .state = shown_as(one.health),
                                  .remedy = text_of(one.remedy),
                                  .message = one.sentence});
    return shown;
}

Result<> return_gpu(Desk& desk, const Host& host, const GpuFacts& gpu) {
    const GpuState* known = state_of(host.gpu_states, gpu.uuid);
    if (!known || known->health == GpuHealth::healthy || commanded(desk, gpu.uuid)) return {};
    if (known->testing_until > desk.estate.micros())
        return refuse(
            fmt::format("GPU {} is being tested already, until {}", gpu.uuid,
                        rfc3339(wall(known->testing_until))),
            "gpu_under_test",
            fmt::format("Well by then, it takes work again; `hostler gpu explain {}` tells.", gpu.uuid));
    command(desk, host.id, Verb::test_gpu, gpu.uuid, 1);
    desk.estate.event("gpu", gpu.uuid, "", "return_asked",
                      "Somebody has seen to it; its host is to test it.");
    return {};
}

void note_test(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    if (answer.done) return;  // How it goes is in the reports.
    desk.estate.event("gpu", command.subject, "", "test_failed",
                      fmt::format("Its host did not test it: {}", answer.message));
}

}  // namespace hostler::master
