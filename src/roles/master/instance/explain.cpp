#include "roles/master/instance/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_common.h"
#include "domain/image/image.h"
#include "ports/engine.h"
#include "roles/master/container/containers.h"
#include "roles/master/container/memory.h"
#include "roles/master/host/view.h"
#include "roles/master/instance/owner.h"
#include "roles/master/policy/policies.h"
#include "roles/master/run/layers.h"
#include "roles/master/run/places.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/state/kinds.h"
#include "roles/master/volume/disks.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

bool is_about_its_image(std::string_view reason) {
    return reason.starts_with("image_") || reason == "registry_unreachable";
}

std::string registry_of(const Instance& instance) {
    const std::string full = full_image_name(instance.spec.image);
    return full.substr(0, full.find('/'));
}

// Whether its registry did not like a login, or was shown none.
std::string help_of_login(const Desk& desk, const Instance& instance) {
    if (const Secret* login = login_for(desk, instance))
        return fmt::format(
            "Its registry was shown the secret {0} and gives it no such image: see to the name of the image, "
            "or "
            "to the login (`hostler secret edit {0} --username USER --value password=@FILE`), and let it "
            "begin "
            "once more: ",
            login->name);
    return fmt::format(
        "If its registry wants a login, keep one (`hostler secret create NAME --kind registry --server {} "
        "--username USER --value password=@FILE`); else give it another image "
        "(`hostler instance update {} --image IMAGE`). Then let it begin once more: ",
        registry_of(instance), instance.caller_id);
}

// There are logs of what has run, and of nothing else.
std::string help_of_ended(const Desk& desk, const Instance& instance) {
    const std::string& name = instance.caller_id;
    if (instance.owner && !instance.deleted)
        return fmt::format("Change {} for that.", text_of(*instance.owner));
    if (!is_repairable(instance)) return fmt::format("Create another one; the name {} is free.", name);
    const std::string retry = fmt::format("`hostler instance retry {}`", name);
    if (instance.reason == "image_unauthorized") return help_of_login(desk, instance) + retry + ".";
    if (is_about_its_image(instance.reason))
        return fmt::format(
            "Give it another image (`hostler instance update {} --image IMAGE`), if this one is "
            "wrong, and let it begin once more: {}.",
            name, retry);
    if (instance.reason == "registry_untrusted")
        return fmt::format(
            "Have an operator let its host's engine trust the registry {} "
            "(docs/operate/engines.md#registries), then let it begin once more: {}.",
            registry_of(instance), retry);
    if (instance.reason == "registry_refused")
        return fmt::format(
            "Give it an image of a registry that the operator allows (`hostler instance update {} --image "
            "IMAGE`), or have an operator allow this one (`--registries` of the agent), and let it begin "
            "once "
            "more: {}.",
            name, retry);
    if (instance.reason == Engine::gpu_unreachable)
        return fmt::format(
            "Have an operator see to the host: its container engine starts containers that cannot open their "
            "GPUs, or the GPU's driver does not answer (`hostler-agent gpu show` there, and "
            "docs/operate/engines.md). "
            "Then let it begin once more: {}.",
            retry);
    if (instance.reason == Engine::init_missing)
        return fmt::format(
            "Have an operator install an init on its host (`apt-get install tini`), or let its program run "
            "without one (`hostler instance update {} --no-init`). Then let it begin once more: {}.",
            name, retry);
    if (instance.reason == "disk_full")
        return fmt::format(
            "Have an operator make room on the disk of its host (`hostler host get HOST` shows "
            "diskFreeBytes), "
            "then let it begin once more: {}.",
            retry);
    if (instance.reason == "private_images_max")
        return fmt::format(
            "Its host remembers as many private repositories as it may (private_images_max): give it an "
            "image "
            "of a repository that is used there already (`hostler instance update {} --image IMAGE`), and "
            "let "
            "it begin once more: {}.",
            name, retry);
    if (instance.reason == "out_of_memory")
        return fmt::format(
            "Let it use less memory, or make an instance of a larger spec (`hostler spec list`); `hostler "
            "instance "
            "logs {}` shows what it wrote. To let it begin once more: {}.",
            name, retry);
    if (instance.reason == completed) return fmt::format("Let it run once more: {}.", retry);
    if (instance.reason == "launch_failed")
        return fmt::format(
            "Change its command, image or variables (`hostler instance update {} --cmd COMMAND`), "
            "and let it begin once more: {}.",
            name, retry);
    // As an init ends that cannot begin the program, and a shell that cannot begin its command.
    constexpr int not_executable = 126, not_found = 127;
    if (instance.exit_code == not_executable || instance.exit_code == not_found)
        return fmt::format(
            "Its command is not in the image or cannot be run there, as exit code {0} says; `hostler "
            "instance "
            "logs {1}` names it. Change it (`hostler instance update {1} --cmd COMMAND`), and let it begin "
            "once "
            "more: {2}.",
            *instance.exit_code, name, retry);
    const std::string read = fmt::format("Read what it wrote (`hostler instance logs {}`), then let", name);
    return fmt::format("{} it begin once more: {}.", instance.started_at != 0 ? read : "Let", retry);
}

// How long its probes still have, as its host counts from the container's start.
std::string probe_progress(const Desk& desk, const Instance& instance) {
    if (instance.phase != InstancePhase::probing || instance.started_at == 0) return {};
    const std::int64_t passed = (desk.estate.micros() - instance.started_at) / 1'000'000;
    const std::int64_t allowed = desk.settings.ready_deadline.count();
    std::string ports;
    for (const InstancePort& port : instance.spec.ports)
        if (port.is_probe) ports += fmt::format("{}{}", ports.empty() ? " of port " : ", ", port.port);
    return fmt::format(" Its probes{} are asked for {} s; after {} s without an answer of all it has failed.",
                       ports, std::max<std::int64_t>(passed, 0), allowed);
}

void explain_place(const Desk& desk, const Instance& instance, api::Explanation& why) {
    const Host* host = desk.estate.hosts.find(instance.host);
    const auto live = desk.live.hosts.find(instance.host);
    const bool connected = live != desk.live.hosts.end() && live->second.connected;
    if (host && !connected && instance.phase == InstancePhase::lost &&
        instance.spec.loss_policy == LossPolicy::move) {
        why.blocking.push_back({instance.host, "is not connected"});
        why.would_help = "Wait until it has begun on another host, or have an operator bring the host back.";
    } else if (host && !connected) {
        why.token = "host_unreachable";
        why.sentence += fmt::format(" Its host {} is not connected, so nothing about it can change.",
                                    host->facts.hostname);
        why.blocking.push_back({instance.host, "is not connected"});
        why.would_help = "Have an operator bring the host back.";
    } else if (host && !host->engine_error.empty()) {
        why.token = "engine_down";
        why.sentence += " The container engine of its host does not answer.";
        why.blocking.push_back({instance.host, host->engine_error});
        why.would_help = "Have an operator start the container engine on the host.";
    }
    if (const std::string notice = has_place(instance.phase) ? drain_notice(desk, instance.host) : "";
        !notice.empty())
        why.blocking.push_back({instance.host, notice});
}

void explain_volumes(const Desk& desk, const Instance& instance, api::Explanation& why) {
    for (const InstanceVolume& mount : instance.spec.volumes) {
        const Volume* volume = desk.estate.volumes.find(mount.volume);
        if (!volume)
            why.sentence += fmt::format(" Its volume at {} no longer exists.", mount.path);
        else if (volume->phase == VolumePhase::creating)
            why.sentence += fmt::format(" Its volume {} at {} is being made{}{}.", volume->name, mount.path,
                                        volume->message.empty() ? "" : ": ", volume->message);
    }
}

void explain_disks(const Desk& desk, const Instance& instance, api::Explanation& why) {
    const auto full = full_disk(desk, instance);
    if (!full) return;
    why.sentence += fmt::format(" But {}.", full->sentence);
    if (!full->token.empty()) {
        why.token = full->token;
        why.blocking.push_back({instance.host, full->sentence});
    }
    if (!why.would_help) why.would_help = full->help;
}

// A program may end by itself, well or not, when it has lost one of its processes.
void explain_memory(const Instance& instance, api::Explanation& why) {
    const std::string sentence = memory_kills_sentence(instance);
    if (sentence.empty()) return;
    why.sentence += " " + sentence;
    if (!why.would_help) why.would_help = memory_kills_help(instance);
}

void explain_processes(const Desk& desk, const Instance& instance, api::Explanation& why) {
    const auto full = full_processes(desk, instance);
    if (!full) return;
    why.token = full->token;
    why.sentence += fmt::format(" But {}.", full->sentence);
    why.blocking.push_back({instance.host, full->sentence});
    if (!why.would_help) why.would_help = full->help;
}

void explain_secrets(const Desk& desk, const Instance& instance, api::Explanation& why) {
    const auto there = check_secrets(desk, instance);
    if (!there) why.sentence += fmt::format(" But {}.", there.error().message);
    const auto live = desk.live.hosts.find(instance.host);
    const bool waits = instance.phase == InstancePhase::placed && live != desk.live.hosts.end() &&
                       live->second.connected && !live->second.takes_secrets;
    if (!waits || !needs_secrets(desk, instance)) return;
    why.blocking.push_back({instance.host, "its agent is too old to be given secrets"});
    why.would_help = "Have an operator upgrade the agent of its host.";
}

}  // namespace

std::optional<UnfitGpu> unfit_gpu(const Desk& desk, const Instance& instance) {
    const Claim* claim = has_place(instance.phase) ? desk.estate.claims.find(instance.claim) : nullptr;
    const Host* host = claim ? desk.estate.hosts.find(claim->host) : nullptr;
    if (!host) return std::nullopt;
    for (const std::string& gpu : claim->gpus) {
        const auto state = host->gpu_states.find(gpu);
        if (state == host->gpu_states.end() || is_fit(state->second.health)) continue;
        const std::string health = text_of(state->second.health);
        return UnfitGpu{
            .gpu = gpu,
            .token = "gpu_" + health,
            .sentence = fmt::format("its GPU {} is {}{}{}", gpu, health,
                                    state->second.reason.empty() ? "" : ": ", state->second.reason),
            .remedy = sentence(state->second.remedy, gpu)};
    }
    return std::nullopt;
}

// What keeps it from being started, beside what it is in.
static void explain_quota(const Desk& desk, const Instance& instance, api::Explanation& why) {
    const auto refused = quota_against_start(desk, instance);
    if (!refused) return;
    why.sentence += fmt::format(" It cannot be started now: {}.", refused->message);
    why.would_help = refused->help;
}

static api::Explanation explain_state(const Desk& desk, const Instance& instance) {
    api::Explanation why{.token = instance.reason,
                         .sentence = fmt::format("It is {}: {}.", text_of(instance.phase), instance.message)};
    if (const std::string killed = killed_sentence(instance); !killed.empty()) why.sentence += " " + killed;
    if (instance.phase == InstancePhase::resting) {
        const std::string kept = layer_sentence(desk, instance);
        why.sentence += kept.empty() ? " Nothing of what it wrote outside its volumes is kept." : " " + kept;
        why.would_help = fmt::format("Start it: `hostler instance start {}`.", instance.caller_id);
        explain_quota(desk, instance, why);
        return why;
    }
    if (is_final(instance.phase)) {
        explain_memory(instance, why);
        const std::string memory = why.would_help ? *why.would_help + " " : "";
        why.would_help = (instance.reason == completed ? "" : memory) + help_of_ended(desk, instance);
        if (is_repairable(instance)) explain_quota(desk, instance, why);
        return why;
    }
    why.sentence += probe_progress(desk, instance);
    explain_place(desk, instance, why);
    explain_volumes(desk, instance, why);
    explain_disks(desk, instance, why);
    explain_processes(desk, instance, why);
    explain_secrets(desk, instance, why);
    explain_memory(instance, why);
    if (const auto unfit = unfit_gpu(desk, instance)) {
        why.token = unfit->token;
        why.sentence += fmt::format(" But {}.", unfit->sentence);
        why.blocking.push_back({instance.host, unfit->sentence});
        why.would_help = fmt::format(
            "Stop it and start it again: it gets other GPUs, if there are some "
            "(`hostler instance stop {0} --wait`, `hostler instance start {0}`).{1}{2}",
            instance.caller_id, unfit->remedy.empty() ? "" : " Operators: ", unfit->remedy);
    }
    for (const HostCommand* command : desk.estate.commands.by().subject.of(instance.id))
        why.sentence += fmt::format(
            " The host is to {}: {}{}.", text_of(command->verb), text_of(command->phase),
            command->message.empty() || command->message == instance.message ? "" : ", " + command->message);
    return why;
}

// Of one that has no place, and could get one if no policy were in the way.
static void explain_policies(const Desk& desk, const Instance& instance, api::Explanation& why) {
    if (instance.phase != InstancePhase::resting && !is_repairable(instance)) return;
    std::string zone = instance.spec.zone, host;
    (void)find_volumes(desk, instance, zone, host);
    const auto refused = start_refused(desk, instance, zone);
    if (!refused) return;
    why.sentence += fmt::format(" It cannot start again now: {}.", refused->message);
    why.would_help = refused->help;
}

api::Explanation explain_instance(const Desk& desk, const Instance& instance) {
    api::Explanation why = explain_state(desk, instance);
    explain_policies(desk, instance, why);
    if (!instance.owner) return why;
    why.sentence += fmt::format(" It belongs to {}.", text_of(*instance.owner));
    if (why.would_help && why.would_help->contains("hostler instance ") && !instance.deleted)
        *why.would_help += fmt::format(" Change {} for that: changes of the instance itself are refused.",
                                       text_of(*instance.owner));
    return why;
}

}  // namespace hostler::master
