#include "roles/master/host/lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/types_host.h"
#include "core/counted.h"
#include "domain/inventory/model.h"
#include "domain/volume/volume.h"
#include "roles/master/command/commands.h"
#include "roles/master/health/health.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/state/due_times.h"
#include "roles/master/state/feature.h"

namespace hostler::master {

namespace {

bool move(Desk& desk, const std::string& id, HostEvent event, std::string reason, std::string message) {
    const auto to = next(host_life, desk.estate.hosts.at(id).phase, event);
    if (!to) return false;
    Host& host = desk.estate.hosts.edit(id);
    host.phase = *to;
    host.message = *to == HostPhase::ready ? "" : message;
    desk.estate.event("host", id, "", std::move(reason), std::move(message));
    return true;
}

// This session of the host counts from now on; what it has there is not known yet.
void count_on(HostLive& live, const std::string& access, std::uint64_t session) {
    live.connected = true;
    live.access = access;
    live.session = session;
    live.complete = false;
    live.access_told = 0;
    live.missed.clear();
    // What it said before on this session may have been lost with a link: it has to say where it is.
    live.greeted = false;
    live.asked_on = 0;
}

// Whether they are others than before.
bool note_facts(Desk& desk, const std::string& id, HostReport& report) {
    const Host& host = desk.estate.hosts.at(id);
    // Free disk space changes all the time: it is not news.
    report.facts->disk_free_bytes =
        host.facts.disk_free_bytes != 0 &&
                std::abs(report.facts->disk_free_bytes - host.facts.disk_free_bytes) < (std::int64_t{1} << 30)
            ? host.facts.disk_free_bytes
            : report.facts->disk_free_bytes;
    const std::int64_t told = report.facts->volume_bytes, known = host.facts.volume_bytes;
    if (known != 0 && std::abs(told - known) < room_step(std::max(told, known)))
        report.facts->volume_bytes = known;
    // An engine that does not answer says nothing about it, and what instances wrote is still there.
    if (!report.engine_error.empty()) report.facts->keeps_layers = host.facts.keeps_layers;
    if (report.facts->boot_id.empty()) report.facts->boot_id = host.facts.boot_id;  // Hellos say it.
    if (host.facts == *report.facts && host.gpu_states == report.gpu_states && host.engine == report.engine &&
        host.engine_error == report.engine_error &&
        (report.agent_version.empty() || host.agent_version == report.agent_version))
        return false;
    const std::uint64_t order = has_spoken(host) ? host.order : room(desk).next_order();
    Host& changed = desk.estate.hosts.edit(id);
    tell_health(desk, changed, report.gpu_states);
    if (changed.engine_error != report.engine_error)
        desk.estate.event(
            "host", id, "", report.engine_error.empty() ? "engine_back" : "engine_down",
            report.engine_error.empty() ? "Its container engine answers." : report.engine_error);
    const std::string& damaged = report.facts->files_damaged;
    if (!damaged.empty() && changed.facts.files_damaged != damaged)
        desk.estate.event("host", id, "", "files_damaged", "Files of its agent were damaged: " + damaged);
    changed.facts = std::move(*report.facts);
    changed.order = order;
    changed.gpu_states = std::move(report.gpu_states);
    changed.engine = std::move(report.engine);
    changed.engine_error = std::move(report.engine_error);
    if (!report.agent_version.empty()) changed.agent_version = report.agent_version;
    return true;
}

void note_images(HostLive& live, HostReport& report) {
    if (report.images && report.images_truncated && live.images) report.images->merge(*live.images);
    live.images = std::move(report.images);
}

}  // namespace

Result<Joined> join_host(Desk& desk, const std::string& token_hash, const std::string& csr_digest,
                         const std::string& hostname) {
    const HostToken* token = nullptr;
    for (const HostToken* row : desk.estate.host_tokens.by().hash.of(token_hash)) token = row;
    if (!token)
        return fail(Code::unauthenticated,
                    "this host token is unknown; make one with: hostler host token create", "token_unknown");
    if (!token->host.empty()) {
        if (token->csr_digest == csr_digest) return Joined{token->host, token->zone, token->certificate};
        return fail(Code::unauthenticated, "this host token was used before; each host needs its own",
                    "token_used");
    }
    if (token->expires_at <= desk.estate.micros())
        return fail(Code::unauthenticated,
                    "this host token has expired; make a new one with: hostler host token create",
                    "token_expired");
    if (!desk.estate.zones.find(token->zone))
        return fail(Code::unauthenticated,
                    fmt::format("this host token is for zone {}, which was deleted", token->zone),
                    "zone_deleted");
    Host host{.id = new_id(desk.random, "h"),
              .zone = token->zone,
              .owner = token->owner,
              .key = csr_digest,
              .message = "it has not reported yet",
              .joined_at = desk.estate.micros()};
    host.facts.hostname = hostname;
    host.admission.state = hostler::Admission::unmeasured;
    HostToken& used = desk.estate.host_tokens.edit(token->id);
    used.host = host.id;
    used.used_at = desk.estate.micros();
    used.csr_digest = csr_digest;
    desk.estate.event("host", host.id, "", "joined",
                      fmt::format("Host {} joined zone {} as {}.", hostname, host.zone, host.id));
    Joined joined{host.id, host.zone, ""};
    desk.estate.hosts.add(std::move(host));
    return joined;
}

Result<> check_renewal(const Desk& desk, const std::string& id, const std::string& key) {
    if (desk.estate.hosts.at(id).key == key) return {};
    return fail(
        Code::forbidden,
        fmt::format("a certificate of host {} was asked for with another key than it joined with", id),
        "key_differs");
}

void keep_certificate(Desk& desk, const std::string& token_hash, const std::string& certificate) {
    if (const HostToken* token = desk.estate.host_tokens.by().hash.first(token_hash))
        desk.estate.host_tokens.edit(token->id).certificate = certificate;
}

Result<> check_host(const Desk& desk, const std::string& id) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired)
        return fail(Code::forbidden, fmt::format("host {} is not part of this cloud", id), "host_removed");
    return {};
}

Result<> host_connected(Desk& desk, const std::string& id, const std::string& access, std::uint64_t session) {
    TRY(check_host(desk, id));
    // Tunnels would lead to either of two machines.
    if (desk.estate.hosts.at(id).quarantined.empty()) desk.live.hosts[id].ways[access] = session;
    return {};
}

void host_disconnected(Desk& desk, const std::string& id, const std::string& access, std::uint64_t session) {
    const auto at = desk.live.hosts.find(id);
    if (at == desk.live.hosts.end()) return;
    auto& ways = at->second.ways;
    if (const auto way = ways.find(access); way != ways.end() && way->second == session) ways.erase(way);
    host_silent(desk, id, access, session);
}

void host_silent(Desk& desk, const std::string& id, const std::string& access, std::uint64_t session) {
    const auto at = desk.live.hosts.find(id);
    if (at == desk.live.hosts.end() || at->second.access != access || at->second.session != session) return;
    at->second.connected = at->second.complete = at->second.greeted = false;
}

Result<> check_boot(Desk& desk, const std::string& id, const std::string& boot_id, std::uint64_t invited,
                    std::uint64_t invitations) {
    constexpr std::size_t boots_max = 16;
    const Host& host = desk.estate.hosts.at(id);
    HostLive& live = desk.live.hosts[id];
    const auto refused = [&] {
        return fail(Code::forbidden,
                    fmt::format("host {} is quarantined: {} Ask an operator for: hostler host release {}", id,
                                desk.estate.hosts.at(id).quarantined, id),
                    "host_quarantined");
    };
    if (!host.quarantined.empty()) return refused();
    if (boot_id.empty() || boot_id == host.boot_id) return {};
    if (std::ranges::count(host.earlier_boots, boot_id) == 0) {
        Host& booted = desk.estate.hosts.edit(id);
        if (!booted.boot_id.empty()) booted.earlier_boots.push_back(booted.boot_id);
        if (booted.earlier_boots.size() > boots_max) booted.earlier_boots.erase(booted.earlier_boots.begin());
        booted.boot_id = boot_id;
        live.boot_heard = invitations;
        return {};
    }
    if (invited <= live.boot_heard) return fail(Code::conflict, "the host has booted since", "stale_boot");
    Host& two = desk.estate.hosts.edit(id);
    two.quarantined =
        fmt::format("Two machines hold its key: one that booted as {} was heard after one that booted as {}.",
                    boot_id, two.boot_id);
    live.connected = live.complete = live.greeted = false;
    live.ways.clear();
    desk.estate.event("host", id, "", "quarantined", two.quarantined);
    return refused();
}

Result<> release_host(Desk& desk, const std::string& id) {
    const Host* found = desk.estate.hosts.find(id);
    if (!found || found->phase == HostPhase::retired)
        return fail(Code::not_found, fmt::format("there is no host {}", id), "host_not_found");
    if (found->quarantined.empty()) return {};
    Host& host = desk.estate.hosts.edit(id);
    host.quarantined.clear();
    host.boot_id.clear();
    host.earlier_boots.clear();
    desk.estate.event("host", id, "", "released",
                      "The next machine that says hello with its key is the host.");
    return {};
}

Result<> host_greets(Desk& desk, const std::string& id, const std::string& access, std::uint64_t session,
                     const std::string& life, std::uint64_t turn, std::uint64_t settled) {
    HostLive& live = desk.live.hosts[id];
    const bool same_life = !life.empty() && live.life == life;
    if (same_life && turn < live.turn)
        return fail(Code::conflict, "the host has said hello on another connection since", "stale_turn");
    live.last_sequence = same_life ? std::max(live.last_sequence, settled) : settled;
    live.acknowledged = settled;
    live.life = life;
    live.turn = turn;
    live.ways[access] = session;
    count_on(live, access, session);
    live.greeted = live.fresh = true;
    return {};
}

ReportIs count_report(Desk& desk, const std::string& id, std::uint64_t sequence, std::uint64_t missing) {
    HostLive& live = desk.live.hosts[id];
    if (!live.greeted) return ReportIs::astray;
    if (live.life.empty()) return ReportIs::next;
    if (sequence <= live.last_sequence) return ReportIs::known;
    const std::uint64_t gap = sequence - live.last_sequence - 1;
    if (gap > missing && !live.fresh) {
        // An answer to this one would settle all before it, too.
        live.greeted = false;
        live.asked_on = 0;
        return ReportIs::astray;
    }
    live.fresh = false;
    if (gap > missing) {
        live.reports_lost += gap - missing;
        desk.estate.event("host", id, "", "reports_lost",
                          fmt::format("{} reports before number {} never came.", gap - missing, sequence));
    }
    live.last_sequence = sequence;
    return ReportIs::next;
}

namespace {

// An agent counts from its beginning: one that tells less than before has begun again, and of the first in a
// term it is not known how much is new.
void note_pod_devices(Desk& desk, HostLive& live, const std::optional<PodDevicesTold>& told) {
    const auto more = [](std::uint64_t before, std::uint64_t now) {
        return now >= before ? now - before : now;
    };
    if (told && live.pod_devices) {
        desk.live.pod_allocations += more(live.pod_devices->allocations, told->allocations);
        desk.live.pod_refusals += more(live.pod_devices->refused, told->refused);
    }
    live.pod_devices = told;
}

}  // namespace

void note_report(Desk& desk, const std::string& id, HostReport report, Instant now) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) return;
    HostLive& live = desk.live.hosts[id];
    live.heard = now;
    live.heard_at = desk.estate.micros();
    live.stamp_us = report.stamp_us;
    desk.live.workloads_refused += report.workloads_cut;
    if (report.facts) {
        note_images(live, report);
        if (note_facts(desk, id, report) || !live.judged) each_feature(&Feature::host_described, desk, id);
    }
    tell_faults(desk, id, report.faults);
    if (report.telemetry) {
        note_telemetry(desk, id, std::move(*report.telemetry));
        note_pod_devices(desk, live, report.pod_devices);
    }
    each_feature(&Feature::host_reports, desk, id, report);
    if (move(desk, id, HostEvent::report, "ready", "The host reports.") || live.reachable_since == 0)
        live.reachable_since = desk.estate.micros();
    for (auto& [instance, workload] : report.workloads) workload.heard_at = desk.estate.micros();
    if (report.complete) {
        live.complete = true;
        if (report.layers) {
            live.layers = std::move(*report.layers);
            live.layers_ahead = report.layers_ahead;
        }
        live.workloads = std::move(report.workloads);
        std::map<std::string, int> missed;
        const auto runs = [&](const std::string& instance) {
            const auto workload = live.workloads.find(instance);
            return workload != live.workloads.end() && workload->second.state != "created";
        };
        for (const std::string& instance : instances_on(desk, id))
            if (!runs(instance) && !commanded(desk, instance) &&
                !only_its_answer_counts(desk.estate.instances.at(instance)))
                missed[instance] = live.missed[instance] + 1;
        live.missed = std::move(missed);
    } else {
        for (auto& [instance, workload] : report.workloads) {
            if (live.workloads.size() < workloads_host_max || live.workloads.contains(instance))
                live.workloads[instance] = std::move(workload);
            else
                ++desk.live.workloads_refused;
        }
    }
    each_feature(&Feature::host_reported, desk, id, report.complete);
    // Stock looks at all slots: only when something is not as it was. sweep() does by level.
    if (!desk.estate.unchanged()) each_feature(&Feature::room_made, desk);
}

std::chrono::milliseconds report_interval(const Settings& settings, const Host& host) {
    auto interval = settings.report_interval;
    for (const GpuFacts& gpu : host.facts.gpus) {
        const GpuModel* model = find_gpu_model(gpu.model);
        if (!model) continue;
        const auto of = settings.report_interval_of.find(model->family);
        if (of != settings.report_interval_of.end()) interval = std::min(interval, of->second);
    }
    return interval;
}

void note_telemetry(Desk& desk, const std::string& id, HostTelemetryTold told) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) return;
    HostLive& live = desk.live.hosts[id];
    std::set<std::string_view> known, slices;
    for (const GpuFacts& gpu : host->facts.gpus) {
        known.insert(gpu.uuid);
        for (const GpuSlice& slice : gpu.slices) slices.insert(slice.uuid);
    }
    std::erase_if(told.gpus, [&](const auto& sample) { return !known.contains(sample.first); });
    for (auto& [uuid, sample] : told.gpus)
        std::erase_if(sample.slices, [&](const SliceSample& one) { return !slices.contains(one.uuid); });
    std::erase_if(told.uses, [&](const WorkloadUse& use) {
        const Instance* instance = desk.estate.instances.find(use.instance);
        return !known.contains(use.gpu) || (!use.instance.empty() && (!instance || instance->host != id));
    });
    live.samples = std::move(told.gpus);
    live.uses = std::move(told.uses);
    live.sample = std::move(told.host);
    live.sampled_at = desk.estate.micros();
    each_feature(&Feature::host_sampled, desk, id);
}

namespace {

struct Silence {
    static constexpr bool follows_estate = true;
    Follower<Host> heard;
    DueTimes<Instant> next;
};

}  // namespace

// When it may have been silent for too long next, also if it says something in a moment.
static Instant silent_next(const Settings& settings, Instant heard, Instant now) {
    const auto first = std::min<Duration>(settings.unreachable_after, settings.lost_after);
    const Instant anew = now + first;
    if (now - heard < first) return heard + first;
    return now - heard < settings.lost_after ? std::min<Instant>(heard + settings.lost_after, anew) : anew;
}

void watch_silence(Desk& desk, Instant now) {
    auto& silent_at = desk.live.part<Silence>().next;
    std::set<std::string> ids = silent_at.due(now);
    for (const std::string& id : desk.live.part<Silence>().heard.changed(desk.estate.hosts))
        if (!silent_at.has(id)) ids.insert(id);  // It is new.
    for (const std::string& id : ids) {
        if (!desk.estate.hosts.find(id)) {
            silent_at.erase(id);
            continue;
        }
        HostLive& live = desk.live.hosts[id];
        if (live.heard == Instant{}) live.heard = now;  // A new term gives everyone the same patience.
        const auto silence = now - live.heard;
        silent_at.set(id, silent_next(desk.settings, live.heard, now));
        if (silence >= desk.settings.unreachable_after)
            move(desk, id, HostEvent::silence, "unreachable",
                 fmt::format("Nothing was heard of it for {} s.", desk.settings.unreachable_after.count()));
        if (silence < desk.settings.lost_after) continue;
        // What it said last says nothing about now, also when its connection is still there.
        live.complete = false;
        if (move(desk, id, HostEvent::long_silence, "lost",
                 fmt::format("Nothing was heard of it for {} s.", desk.settings.lost_after.count())))
            each_feature(&Feature::host_lost, desk, id);
    }
}

Result<> remove_host(Desk& desk, const std::string& id, bool force) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired)
        return fail(Code::not_found, fmt::format("there is no host {}", id), "host_not_found");
    const auto instances = instances_on(desk, id);
    const auto living = std::ranges::count_if(
        instances, [&](const std::string& i) { return !is_final(desk.estate.instances.at(i).phase); });
    const std::size_t volumes = desk.estate.volumes.by().host.count(id);
    const std::size_t nodes = desk.estate.claims.by().node_host.count(id);
    if ((living > 0 || volumes > 0 || nodes > 0) && !force) {
        Error error{Code::conflict,
                    fmt::format("{} and {} are on host {}", counted(living, "instance"),
                                counted(volumes, "volume"), id),
                    "host_in_use"};
        if (nodes > 0) error.message = fmt::format("host {} is a node of a cluster", id);
        error.help = "Stop and delete them, or remove it with force=true: they are lost then.";
        return std::unexpected(std::move(error));
    }
    move(desk, id, HostEvent::remove, "removed", "The host was removed and is cut off.");
    each_feature(&Feature::host_gone, desk, id);
    std::vector<std::string> claims;
    for (const Claim* claim : desk.estate.claims.by().host.of(id))
        if (claim->use != ClaimUse::stock) claims.push_back(claim->id);
    for (const std::string& claim : claims) desk.estate.release(claim);
    desk.live.hosts.erase(id);
    each_feature(&Feature::room_made, desk);
    return {};
}

Result<> cordon_host(Desk& desk, const std::string& id, bool cordoned) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired)
        return fail(Code::not_found, fmt::format("there is no host {}", id), "host_not_found");
    if (host->cordoned == cordoned) return {};
    desk.estate.hosts.edit(id).cordoned = cordoned;
    desk.estate.event("host", id, "", cordoned ? "cordoned" : "uncordoned",
                      cordoned ? "Nothing new goes there." : "It takes work again.");
    if (!cordoned) each_feature(&Feature::room_made, desk);
    return {};
}

Result<> update_host(Desk& desk, const std::string& id, const api::UpdateHost& request) {
    const Host& now = desk.estate.hosts.at(id);
    Labels labels = with_changes(now.labels, request.labels);
    if (labels.size() > labels_max)
        return all_right({{"labels", fmt::format("a host has at most {}", labels_max)}});
    const std::string rack = request.rack.value_or(now.rack);
    const auto trust = request.trust ? named_alike<Trust>(request.trust) : now.trust;
    if (rack == now.rack && labels == now.labels && trust == now.trust) return {};
    Host& host = desk.estate.hosts.edit(id);
    host.rack = rack;
    host.labels = std::move(labels);
    if (host.trust != trust) desk.live.hosts[id].judged = false;
    host.trust = trust;
    desk.estate.event("host", id, "", "described", "Its rack, labels or trust were changed.");
    return {};
}

}  // namespace hostler::master
