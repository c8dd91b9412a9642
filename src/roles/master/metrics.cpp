#include "roles/master/master.h"
#include "roles/master/usage.h"

namespace hostler::master {

using enum MetricsPage::Type;

void Front::write_metrics(MetricsPage& page) const {
    const Admission::Count now = admission_.count();
    const AdmissionLimits& limits = settings_.admission;
    page.add_bounded("hostler_master_requests", "Requests of tenants under way.", now.under_way,
                     limits.requests_max);
    page.add("hostler_master_requests_tenant_max", "Requests under way that one tenant may have.", gauge,
             limits.requests_tenant_max);
    page.add_bounded("hostler_master_requests_waiting", "Requests of tenants that wait for their turn.",
                     now.waiting, limits.waiting_max);
    page.add("hostler_master_requests_waiting_tenant_max", "Waiting requests that one tenant may have.",
             gauge, limits.waiting_tenant_max);
    page.add_bounded("hostler_master_operator_requests", "Requests of operators under way.",
                     now.operators_under_way, limits.operators_max);
    page.add_bounded("hostler_master_operator_requests_waiting", "Requests of operators that wait.",
                     now.operators_waiting, limits.waiting_tenant_max);
    page.add("hostler_master_requests_admitted_total", "Requests that had their turn.", counter,
             now.admitted);
    page.begin("hostler_master_requests_refused_total", "Requests turned away, by why.", counter);
    page.value({{"why", "rate_limited"}}, now.refused_rate);
    page.value({{"why", "too_many_requests"}}, now.refused_tenant);
    page.value({{"why", "overloaded"}}, now.refused_busy);
    page.add("hostler_master_tenants_active", "Tenants with requests under way or waiting.", gauge,
             now.tenants);
    page.add_bounded("hostler_master_key_rates", "Keys whose rate is counted.", now.keys, limits.keys_max);
    page.add_bounded("hostler_master_stranger_rates", "Addresses without a key whose rate is counted.",
                     now.strangers, limits.keys_max);
    page.add_bounded("hostler_master_watches", "Watches of tenants.", api_.watches().tenants(),
                     settings_.watches_max);
    page.add_bounded("hostler_master_operator_watches", "Watches of operators.", api_.watches().operators(),
                     settings_.watches_tenant_max);
    page.add("hostler_master_watches_tenant_max", "Watches that one tenant may have.", gauge,
             settings_.watches_tenant_max);
}

void Master::write_metrics(MetricsPage& page) const {
    front_.write_metrics(page);
    page.add_bounded("hostler_master_connections", "Connections to the API.", server_.connections(),
                     settings_.connections_max);
    page.add_bounded("hostler_master_links_opening", "Access points and gateways saying who they are.",
                     links_, links_max);
    page.add_bounded("hostler_master_followers_connections", "Connections of masters that pass requests on.",
                     followers_, settings_.connections_max);
    const TermPtr term = lead_.term;
    page.add("hostler_master_leads", "1: it leads.", gauge, int{term && !term->ended()});
    if (!term) return;
    const Desk& desk = term->look();
    page.add("hostler_master_epoch", "Of its term.", gauge, term->epoch());
    page.add("hostler_master_read_only", "1: its store's disk is full.", gauge,
             int{term->read_only().has_value()});
    page.add("hostler_master_commits_waiting", "Commits that the store has not answered yet.", gauge,
             term->commits_waiting());
    page.add("hostler_master_feed_changes", "Changes kept for watches, of all kinds.", gauge,
             term->feed().size());
    page.add("hostler_master_feed_changes_kind_max", "Changes kept of each kind.", gauge, settings_.feed_max);
    page.add_bounded("hostler_master_host_handshakes", "Hosts being greeted.", term->host_limits().handshakes,
                     HostLimits::handshakes_max);
    std::size_t connected = 0, access = 0, sampled = 0;
    std::uint64_t dropped = 0;
    for (const auto& [id, host] : desk.live.hosts) {
        connected += host.connected ? 1 : 0;
        sampled += host.samples.size();
        dropped += host.telemetry_dropped + host.reports_dropped;
    }
    for (const auto& [name, point] : desk.live.access_points) access += point.connected ? 1 : 0;
    page.add("hostler_master_hosts", "Hosts that are not retired.", gauge, desk.estate.hosts.all().size());
    page.add("hostler_master_hosts_connected", "Hosts that are connected.", gauge, connected);
    page.add("hostler_master_access_points_connected", "Access points that are connected.", gauge, access);
    page.add("hostler_master_gateways_connected", "Gateways that are connected.", gauge, desk.live.gateways);
    page.add("hostler_master_gpus_sampled", "GPUs whose last sample is kept, one each.", gauge, sampled);
    page.add("hostler_master_samples_dropped",
             "Samples that connected hosts had no room for, of all GPUs of one.", gauge, dropped);
    page.add("hostler_master_commands", "Commands under way.", gauge, desk.estate.commands.all().size());
    page.add("hostler_master_answers", "Answers kept for idempotency keys, for 24 hours.", gauge,
             desk.estate.answers.all().size());
    page.add("hostler_master_answers_tenant_max", "Of them those of one tenant.", gauge,
             settings_.answers_tenant_max);
    std::size_t workloads = 0;
    for (const auto& [id, host] : desk.live.hosts) workloads = std::max(workloads, host.workloads.size());
    page.add_bounded("hostler_master_host_workloads", "Workloads of the host that names most.", workloads,
                     workloads_host_max);
    page.add("hostler_master_workloads_refused_total", "Workloads that hosts named beyond what is believed.",
             counter, desk.live.workloads_refused);
    std::map<InstancePhase, std::size_t> phases;
    for (const auto& [id, instance] : desk.estate.instances.all()) ++phases[instance.phase];
    page.begin("hostler_master_instances", "Instances in memory, by phase.", gauge);
    for (const auto& [phase, count] : phases) page.value({{"phase", text_of(phase)}}, count);
}

Result<> Master::write_gpu_metrics(MetricsPage& page, const std::string& zone) const {
    const TermPtr term = lead_.term;
    if (!term || term->ended())
        return fail(Code::unavailable, "this master does not lead: ask the one with hostler_master_leads 1");
    return hostler::master::write_gpu_metrics(page, term->look(), zone);
}

}  // namespace hostler::master
