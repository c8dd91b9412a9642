#include "roles/master/sealing/metrics.h"
#include "roles/master/alert/alerts.h"
#include "roles/master/alert/book.h"
#include "roles/master/cluster/metrics.h"
#include "roles/master/http/audit_seals.h"
#include "roles/master/http/denials.h"
#include "roles/master/job/counts.h"
#include "roles/master/oidc/metrics.h"
#include "roles/master/quota/counts.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/series/parts.h"
#include "roles/master/series/usage.h"
#include "roles/master/server/master.h"
#include "roles/master/volume/disks.h"

namespace hostler::master {

using enum MetricsPage::Type;

namespace {

// All of them together: one series each would be as many as there are volumes and instances.
void write_disk_metrics(MetricsPage& page, const Desk& desk) {
    struct Sum {
        std::string_view of;
        std::uint64_t measured = 0, used_bytes = 0, total_bytes = 0, used_inodes = 0, nearly_full = 0;
        void add(const DiskUse& use) {
            const auto number = [](const Metric& metric) {
                return static_cast<std::uint64_t>(metric.value_or(0));
            };
            ++measured;
            used_bytes += number(use.used_bytes);
            total_bytes += number(use.total_bytes);
            used_inodes += number(use.used_inodes);
            nearly_full += fullness_of(use) == Fullness::roomy ? 0 : 1;
        }
    };
    Sum volumes{.of = "volume"}, layers{.of = "layer"};
    for (const auto& [id, host] : desk.live.hosts) {
        if (!host.connected || !host.disks) continue;
        for (const auto& [volume, use] : host.disks->volumes) volumes.add(use);
        for (const auto& [instance, use] : host.disks->layers) layers.add(use);
    }
    const auto each = [&](std::string_view name, std::string_view help, std::uint64_t Sum::* member) {
        page.begin(name, help, gauge);
        for (const Sum& sum : {volumes, layers}) page.value({{"of", sum.of}}, sum.*member);
    };
    each("hostler_master_disks_measured", "Volumes and layers of instances with known usage.",
         &Sum::measured);
    each("hostler_master_disks_used_bytes", "Bytes in use in all of them.", &Sum::used_bytes);
    each("hostler_master_disks_total_bytes", "Bytes that all of them have.", &Sum::total_bytes);
    each("hostler_master_disks_used_inodes", "Files and folders in all of them.", &Sum::used_inodes);
    each("hostler_master_disks_nearly_full", "Of them those that are full or nearly so.", &Sum::nearly_full);
}

}  // namespace

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
    page.add("hostler_master_requests_unknown_total", "Requests without a known credential.", counter,
             now.unknown);
    page.add("hostler_master_tenants_active", "Tenants with requests under way or waiting.", gauge,
             now.tenants);
    page.add_bounded("hostler_master_key_rates", "Keys with a counted rate.", now.keys, limits.keys_max);
    page.add_bounded("hostler_master_stranger_rates", "Addresses without a key and with a counted rate.",
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
    page.add("hostler_master_connections_address_max", "Connections that one address may have.", gauge,
             settings_.connections_address_max);
    const auto& closed = server_.places().count();
    page.begin("hostler_master_connections_closed_total",
               "Connections without a key that were closed, by why.", counter);
    page.value({{"why", "address"}}, closed.refused);
    page.value({{"why", "room"}}, closed.made_room);
    page.value({{"why", "silent"}}, closed.late);
    const auto& arrivals = server_.arrivals();
    page.begin("hostler_master_tls_refused_total",
               "Connections without TLS where it is, and failed handshakes.", counter);
    page.value({{"why", "plain"}}, arrivals.plain);
    page.value({{"why", "handshake"}}, arrivals.failed);
    page.add("hostler_master_proxy_refused_total",
             "Connections of trusted proxies without a good PROXY preamble.", counter, arrivals.unannounced);
    page.add_bounded("hostler_master_links_opening", "Access points and gateways saying who they are.",
                     links_, links_max);
    page.add_bounded("hostler_master_followers_connections", "Connections of masters that pass requests on.",
                     followers_, settings_.connections_max);
    write_series_metrics(page);
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
    page.add_bounded("hostler_master_watch_changes", "Changes kept for watches over all kinds.",
                     term->changes().size(), settings_.changes_max);
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
    page.add("hostler_master_gpus_sampled", "GPUs with a kept last sample, one each.", gauge, sampled);
    page.add("hostler_master_samples_dropped",
             "Samples that connected hosts had no room for, of all GPUs of one.", gauge, dropped);
    page.add("hostler_master_room_built_total", "Full scans of the free resources of all hosts.", counter,
             desk.live.part<Room>().built());
    page.add("hostler_master_commands", "Commands under way.", gauge, desk.estate.commands.all().size());
    page.add("hostler_master_answers", "Answers kept for idempotency keys, for 24 hours.", gauge,
             desk.estate.answers.all().size());
    page.add("hostler_master_answers_tenant_max", "Of them those of one tenant.", gauge,
             settings_.answers_tenant_max);
    write_sealing_metrics(page, desk, term->ports().sealer);
    write_secret_metrics(page, desk);
    write_oidc_metrics(page, *term);
    write_quota_metrics(page, desk);
    write_job_metrics(page, desk);
    write_cluster_metrics(page, desk);
    page.begin("hostler_master_alerts", "Alerts that fire, by severity.", gauge);
    std::map<alert::Severity, std::size_t> alerts{
        {alert::Severity::info, 0}, {alert::Severity::warning, 0}, {alert::Severity::critical, 0}};
    for (const auto& [id, row] : desk.estate.alerts.all())
        alerts[row.severity] += row.resolved_at == 0 ? 1 : 0;
    for (const auto& [severity, count] : alerts) page.value({{"severity", text_of(severity)}}, count);
    page.add("hostler_master_alerts_max", "Alerts that may fire at once.", gauge, alerts_max);
    page.add("hostler_master_alerts_left_out", "Alerts that would fire and have no room.", gauge,
             desk.live.part<AlertBook>().left_out);
    page.add("hostler_master_alert_messages", "Messages to receivers that have not arrived.", gauge,
             desk.estate.alert_deliveries.all().size());
    page.add("hostler_master_alert_messages_receiver_max", "Of them those of one receiver.", gauge,
             alert::deliveries_max);
    page.begin("hostler_master_alert_sends_total", "Messages sent to receivers, by how it went.", counter);
    page.value({{"outcome", "delivered"}}, desk.live.part<AlertBook>().delivered);
    page.value({{"outcome", "failed"}}, desk.live.part<AlertBook>().failed);
    page.value({{"outcome", "given_up"}}, desk.live.part<AlertBook>().given_up);
    std::size_t workloads = 0;
    for (const auto& [id, host] : desk.live.hosts) workloads = std::max(workloads, host.workloads.size());
    page.add_bounded("hostler_master_host_workloads", "Workloads of the host that names most.", workloads,
                     workloads_host_max);
    std::size_t layers = 0;
    std::int64_t layer_bytes = 0;
    std::uint64_t ahead = 0, pod_gpus = 0, pod_gpus_allocated = 0;
    for (const auto& [id, host] : desk.live.hosts) {
        if (host.pod_devices && host.connected) {
            pod_gpus += host.pod_devices->offered;
            pod_gpus_allocated += host.pod_devices->allocated.value_or(0);
        }
        layers = std::max(layers, host.layers.size());
        ahead += host.layers_ahead;
        for (const auto& [instance, layer] : host.layers) layer_bytes += layer.bytes;
    }
    page.add_bounded("hostler_master_host_layers",
                     "Bytes that stopped instances wrote outside their volumes, on the host that keeps most.",
                     layers, layers_host_max);
    page.add("hostler_master_layer_bytes", "Bytes that it takes of the disks of all hosts.", gauge,
             static_cast<std::uint64_t>(layer_bytes));
    write_disk_metrics(page, desk);
    page.add("hostler_master_layers_ahead", "Empty layers that hosts have made ahead for idle slots.", gauge,
             ahead);
    page.add("hostler_master_pod_gpus", "GPUs that nodes of clusters offer to pods.", gauge, pod_gpus);
    page.add("hostler_master_pod_gpus_allocated", "GPUs that pods have.", gauge, pod_gpus_allocated);
    page.add("hostler_master_pod_gpu_allocations_total", "Containers of pods that got GPUs, in this term.",
             counter, desk.live.pod_allocations);
    page.add("hostler_master_pod_gpu_refusals_total",
             "Containers of pods that did not get their GPUs, in this term.", counter,
             desk.live.pod_refusals);
    page.add("hostler_master_workloads_refused_total", "Workloads that hosts named beyond what is believed.",
             counter, desk.live.workloads_refused);
    const Denials::Count& denials = desk.live.part<Denials>().count();
    page.begin("hostler_master_audit_refusals_total",
               "Refused calls of known callers, and sign-ins that failed, in this term.", counter);
    page.value({{"of", "call"}}, denials.calls);
    page.value({{"of", "sign_in"}}, denials.sign_ins_failed);
    page.add("hostler_master_audit_refusals_left_out_total",
             "Of them those that are only counted in the audit, since they were too many in a minute.",
             counter, denials.left_out);
    page.add("hostler_master_audit_lines_deleted_total",
             "Lines of the audit that were too old and are deleted, in this term.", counter,
             desk.live.audit_pruned);
    page.add("hostler_master_audit_position", "Position of the last line in the chain of the audit.", gauge,
             term->audit_head().position);
    page.add("hostler_master_audit_sealed_position", "Position of the last line that is sealed.", gauge,
             sealed_position(*term));
    page.add("hostler_master_rows_unreadable", "Rows of the store that cannot be read and are set aside.",
             gauge, desk.estate.unreadable().size());
    std::map<InstancePhase, std::size_t> phases;
    for (const auto& [id, instance] : desk.estate.instances.all()) ++phases[instance.phase];
    page.begin("hostler_master_instances", "Instances in memory, by phase.", gauge);
    for (const auto& [phase, count] : phases) page.value({{"phase", text_of(phase)}}, count);
}

void Master::write_series_metrics(MetricsPage& page) const {
    const SeriesStats& stats = series_care_.stats();
    page.add("hostler_series_rows_total", "Rows of samples taken since the start.", counter, stats.rows);
    page.add("hostler_series_rows_late_total", "Rows that came too late to be kept.", counter,
             stats.rows_late);
    page.add_bounded("hostler_series_devices", "GPUs and hosts with series.", stats.devices,
                     SeriesStore::devices_max);
    page.add("hostler_series_memory_bytes", "Rows that are in no segment yet.", gauge, stats.memory_bytes);
    page.add_bounded("hostler_series_disk_bytes", "Series on the disk; a bound of 0 is none.",
                     stats.disk_bytes, settings_.series_disk_max);
    page.add("hostler_series_volume_bytes", "Size of the file system that holds them.", gauge,
             stats.volume_bytes);
    page.add("hostler_series_volume_free_bytes", "Free there.", gauge, stats.volume_free_bytes);
    page.add("hostler_series_written_bytes_total", "Written to the disk.", counter, stats.written_bytes);
    page.add("hostler_series_blocks_damaged_total", "Blocks that could not be read.", counter,
             stats.blocks_damaged);
    page.add("hostler_series_too_large", "1: larger than its bound, and nothing is left to give up.", gauge,
             int{series_care_.too_large()});
    page.add("hostler_series_given_up_total", "Times that more was taken out than the policy says.", counter,
             series_care_.given_up());
    const SeriesFollow& follow = front_.series_follow();
    page.add("hostler_series_follow_lag_seconds", "Since it had all that the leader had; 0: it leads.", gauge,
             std::chrono::duration_cast<std::chrono::seconds>(follow.lag()).count());
    page.add("hostler_series_follow_rows_total", "Rows taken from leaders; some come twice.", counter,
             follow.count().rows);
    page.add("hostler_series_follow_failures_total", "Pieces that did not come, or could not be stored.",
             counter, follow.count().failures);
    page.add("hostler_series_follow_skipped_total",
             "Segments that the leader had down-sampled before they were asked for.", counter,
             follow.count().segments_skipped);
    const TermPtr term = lead_.term;
    if (!term) return;
    const Recorder::Count& count = recorder_of(*term).count();
    page.add_bounded("hostler_series_cells_waiting", "Samples that wait to be durable.", count.cells_waiting,
                     Recorder::cells_max);
    page.add("hostler_series_behind", "1: the store is slow, full or broken, and hosts keep their samples.",
             gauge, int{recorder_of(*term).behind()});
    page.add("hostler_series_failures_total", "Failures of the store, in this term.", counter,
             count.failures);
    page.add("hostler_series_rows_refused_total", "Rows of devices that had no place, in this term.", counter,
             count.rows_refused);
    page.add("hostler_series_reports_turned_away_total", "Reports that had to come again, in this term.",
             counter, count.turned_away);
    page.add_bounded("hostler_series_queries", "Queries being answered.", queries_of(*term).under_way(),
                     Queries::all_max);
    page.add("hostler_series_queries_one_max", "Of one tenant, or of operators.", gauge, Queries::one_max);
    page.add("hostler_series_queries_refused_total", "Queries turned away, in this term.", counter,
             queries_of(*term).refused());
}

Result<> Master::write_gpu_metrics(MetricsPage& page, const std::string& zone) const {
    const TermPtr term = lead_.term;
    if (!term || term->ended())
        return fail(Code::unavailable, "this master does not lead: ask the one with hostler_master_leads 1");
    return hostler::master::write_gpu_metrics(page, term->look(), zone);
}

}  // namespace hostler::master
