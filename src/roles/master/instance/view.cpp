#include "roles/master/instance/view.h"

#include <fmt/format.h>
#include <boost/describe/enum_from_string.hpp>

#include <algorithm>

#include "api/types_instance.h"
#include "core/quantity.h"
#include "domain/billing/money.h"
#include "roles/master/billing/prices.h"
#include "roles/master/container/containers.h"
#include "roles/master/health/health.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/instance/explain.h"
#include "roles/master/run/layers.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/share/shares.h"
#include "roles/master/state/views.h"
#include "roles/master/volume/disks.h"
#include "roles/master/volume/view.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

constexpr int ssh_port = 22;

// Those that are over, and the one that goes on.
std::vector<InstanceRun> runs_of(const Instance& instance) {
    std::vector<InstanceRun> runs = instance.runs;
    const bool over = !runs.empty() && runs.back().generation == instance.run_generation;
    if (!over && instance.started_at != 0)
        runs.push_back({.generation = instance.run_generation,
                        .host = instance.host,
                        .started_at = instance.started_at,
                        .ready_at = instance.ready_at});
    return runs;
}

// The gateway serves HTTP, so SSH goes through `hostler proxy`: by this name, as docs/use/sessions.md sets
// OpenSSH up.
std::string ssh_url_of(const Instance& instance) {
    return fmt::format("ssh://{}.hostler", instance.caller_id);
}

// "http://localhost:8443" and "localhost" make "http://8080-i-7f3k.localhost:8443/".
std::string url_of(const Gateway& gateway, const Instance& instance, const InstancePort& port) {
    const auto scheme_end = gateway.address.find("://");
    const std::string scheme =
        scheme_end == std::string::npos ? "http" : gateway.address.substr(0, scheme_end);
    const std::string rest =
        scheme_end == std::string::npos ? gateway.address : gateway.address.substr(scheme_end + 3);
    const auto colon = rest.rfind(':');
    const std::string path = port.base_url.empty() ? "/" : port.base_url;
    if (gateway.domain.empty())
        return fmt::format("{}://{}:{}{}", scheme, rest.substr(0, colon), port.own_port, path);
    return fmt::format("{}://{}.{}{}{}", scheme, route_name(instance, port.port), gateway.domain,
                       colon == std::string::npos ? "" : rest.substr(colon), path);
}

// Of one that is given back for good, nothing waits for anybody.
std::optional<api::InstanceLayer> layer_of(const Desk& desk, const Instance& instance) {
    const bool runs = has_place(instance.phase) && instance.phase != InstancePhase::halting &&
                      may_keep_layer(desk, instance);
    const std::string& host = runs ? instance.host : instance.layer_host;
    if (host.empty() || instance.deleted) return std::nullopt;
    api::InstanceLayer shown{.host = host, .kept = !runs};
    const auto live = desk.live.hosts.find(host);
    if (const DiskUse* use = runs ? use_of_disk(desk, instance) : nullptr) show_use(*use, shown);
    if (runs || live == desk.live.hosts.end()) return shown;
    if (const auto seen = live->second.layers.find(instance.id); seen != live->second.layers.end())
        shown.bytes = seen->second.bytes;
    return shown;
}

std::string model_of(const Host* host, const Claim& claim) {
    if (host) {
        const auto gpu = std::ranges::find(host->facts.gpus, claim.gpus.front(), &GpuFacts::uuid);
        if (gpu != host->facts.gpus.end()) return gpu->model;
    }
    return claim.gpu_models.empty() ? "" : claim.gpu_models.front();
}

// Those that it holds; without a place those that its spec asks for.
std::optional<api::InstanceGpu> gpu_of(const Desk& desk, const Instance& instance, const Claim* claim) {
    if (!claim) {
        const Spec* spec = desk.estate.specs.find(instance.spec_name);
        if (!spec || spec->gpu_count == 0) return std::nullopt;
        return api::InstanceGpu{.model = spec->gpu_type, .count = spec->gpu_count};
    }
    if (claim->gpus.empty()) return std::nullopt;
    const Host* host = desk.estate.hosts.find(claim->host);
    return api::InstanceGpu{.model = model_of(host, *claim), .count = static_cast<int>(claim->gpus.size())};
}

}  // namespace

void show_price(const Desk& desk, const Instance& instance, const api::Caller& caller, api::Instance& shown) {
    if (!shown.gpu || !authorize_anywhere(caller.principal, Permission::price_read)) return;
    const Claim* claim = desk.estate.claims.find(instance.claim);
    const Host* host =
        claim && claim->use == ClaimUse::instance ? desk.estate.hosts.find(claim->host) : nullptr;
    if (!host) return;
    const Price* price =
        price_now(desk, {shown.gpu->model, host->zone, text_of(trust_of(*host)), isolation_of(*host)});
    if (!price) return;
    shown.gpu->price_per_hour = money_text(price->amount_micros * shown.gpu->count);
    shown.gpu->currency = price->currency;
}

api::Instance view(const Desk& desk, const Instance& instance, const api::Caller& caller) {
    api::Instance shown = view(desk, instance);
    show_price(desk, instance, caller, shown);
    return shown;
}

api::Instance view(const Desk& desk, const Instance& instance) {
    api::Instance shown;
    shown.id = instance.id;
    shown.instance_id = instance.caller_id;
    shown.tenant_id = instance.tenant;
    shown.project = instance.project;
    shown.tenant_name = instance.tenant_name;
    shown.spec_name = instance.spec_name;
    shown.image = instance.spec.image;
    shown.template_name = instance.spec.template_name;
    boost::describe::enum_from_string(std::string{state_of(instance.phase)}.c_str(), shown.state);
    shown.phase = text_of(instance.phase);
    shown.resumable = instance.phase == InstancePhase::resting;
    shown.reason = instance.reason;
    shown.message = instance.message;
    if (const auto full = full_disk(desk, instance); full && !full->token.empty()) {
        shown.reason = full->token;
        shown.message = full->sentence;
    }
    if (auto full = full_processes(desk, instance)) {
        shown.reason = std::move(full->token);
        shown.message = std::move(full->sentence);
    }
    if (const auto unfit = unfit_gpu(desk, instance)) {
        shown.reason = unfit->token;
        shown.message = unfit->sentence;
    }
    shown.host = instance.host;
    shown.zone = instance.zone;
    const Claim* claim = desk.estate.claims.find(instance.claim);
    if (claim) shown.gpus = claim->gpus;
    shown.gpu = gpu_of(desk, instance, claim);
    if (const Host* host = desk.estate.hosts.find(instance.host)) shown.simulated = host->facts.simulated;
    if (!desk.estate.gateways.all().empty())
        for (const InstancePort& port : instance.spec.ports)
            shown.urls.push_back({port.port,
                                  port.port == ssh_port && port.base_url.empty()
                                      ? ssh_url_of(instance)
                                      : url_of(desk.estate.gateways.all().begin()->second, instance, port),
                                  port.is_public});
    if (!desk.estate.gateways.all().empty())
        shown.gateway = desk.estate.gateways.all().begin()->second.address;
    shown.address = instance.address;
    if (const Subnet* subnet = desk.estate.subnets.find(instance.subnet))
        if (const Network* network = desk.estate.networks.find(subnet->network))
            shown.network = network->name;
    for (const InstanceVolume& mount : instance.spec.volumes) {
        const Volume* volume = desk.estate.volumes.find(mount.volume);
        shown.volumes.push_back({volume ? volume->name : mount.volume, mount.path, mount.read_only});
    }
    show_secrets(instance, shown);
    shown.labels = instance.labels;
    shown.generation = instance.meta.generation;
    if (instance.owner)
        shown.owner = api::InstanceOwner{.kind = instance.owner->kind, .id = instance.owner->id};
    shown.created_at = wall(instance.created_at);
    shown.created_by = instance.created_by;
    shown.started_at = wall_if(instance.started_at);
    shown.ready_at = wall_if(instance.ready_at);
    shown.ended_at = wall_if(instance.ended_at);
    shown.exit_code = instance.exit_code;
    shown.holds_place = !instance.claim.empty();
    shown.probes = static_cast<int>(std::ranges::count_if(instance.spec.ports, &InstancePort::is_probe));
    for (const InstanceRun& run : runs_of(instance))
        shown.runs.push_back({.generation = run.generation,
                              .started_at = wall_if(run.started_at),
                              .ready_at = wall_if(run.ready_at),
                              .ended_at = wall_if(run.ended_at),
                              .host = run.host,
                              .reason = run.reason,
                              .exit_code = run.exit_code,
                              .killed_after_seconds =
                                  run.killed_after_s > 0 ? std::optional{run.killed_after_s} : std::nullopt});
    shown.inactivity_timeout_seconds = instance.schedule.inactivity_s;
    shown.max_run_seconds = instance.schedule.max_run_s;
    shown.loss_policy =
        instance.spec.loss_policy == LossPolicy::move ? api::LossPolicy::move : api::LossPolicy::stay;
    shown.stop_grace_seconds = stop_grace_of(desk, instance).count();
    if (const std::int64_t bytes = shm_bytes_of(desk, instance); bytes > 0)
        shown.shm_size = to_string(Quantity::of_units(bytes));
    if (instance.spec.placement) shown.placement = shown_as(*instance.spec.placement);
    shown.layer = layer_of(desk, instance);
    shown.stop_at = wall_if(instance.schedule.stop_at);
    if (instance.schedule.kept_until > desk.estate.micros())
        shown.kept_until = wall(instance.schedule.kept_until);
    if (const auto use = use_of(desk, instance); use && instance.phase == InstancePhase::running) {
        shown.in_use = use->in_use;
        shown.used_at = wall(use->used_at);
        shown.used_by = use->by;
    }
    if (const auto stop = next_stop(desk, instance)) {
        shown.stops_at = wall(std::max(stop->at, desk.estate.micros()));
        shown.stops_because = text_of(stop->rule);
    }
    return shown;
}

}  // namespace hostler::master
