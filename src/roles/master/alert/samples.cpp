#include "roles/master/alert/samples.h"

#include <cmath>

#include "domain/alert/defaults.h"
#include "roles/master/alert/book.h"
#include "roles/master/series/series.h"
#include "roles/master/state/jobs_stalled.h"
#include "roles/master/volume/disks.h"

namespace hostler::master {

namespace {

constexpr std::int64_t second = 1'000'000;

constexpr std::int64_t held_back =
    throttle_hardware | throttle_thermal_software | throttle_thermal_hardware | throttle_power_brake;

}  // namespace

AlertSamples::AlertSamples(const Desk& desk, const AlertFacts& facts) : desk_(desk) {
    const std::int64_t report = std::chrono::microseconds{desk.settings.report_interval}.count();
    const std::int64_t fresh_since = desk.estate.micros() - std::max(60 * second, 3 * report);
    for (const auto& [id, host] : desk.estate.hosts.all())
        if (host.phase != HostPhase::retired) add_host(desk, host, fresh_since);
    for (const auto& [name, row] : desk.estate.access_points.all()) {
        const auto live = desk.live.access_points.find(name);
        const bool connected = live != desk.live.access_points.end() && live->second.connected;
        add("access/" + name, {{"access", name}, {"zone", row.zone}}, "access_down", connected ? 0 : 1);
    }
    for (const auto& [name, days] : facts.authority_days_left)
        add("authority/" + name, {{"authority", name}}, "authority_days_left", days);
    add("store", {}, "store_commits_waiting", facts.commits_waiting);
    add("series", {}, "series_unavailable", desk.live.part<AlertBook>().series_failed ? 1 : 0);
    if (facts.series) add_series(*facts.series, desk.estate.micros() / 1000);
    add("jobs", {}, "jobs_stalled_seconds",
        static_cast<double>(desk.live.part<JobsStalled>().seconds(desk.estate.micros())));
    std::map<std::string, std::int64_t> oldest;  // By receiver.
    for (const auto& [id, row] : desk.estate.alert_deliveries.all()) {
        const auto at = oldest.try_emplace(row.receiver, row.created_at).first;
        at->second = std::min(at->second, row.created_at);
    }
    for (const auto& [id, row] : desk.estate.alert_receivers.all()) {
        const auto at = oldest.find(id);
        const double delay =
            at == oldest.end() ? 0 : static_cast<double>((desk.estate.micros() - at->second) / second);
        add("receiver/" + id, {{"receiver", row.name}, {"owner", row.tenant}}, "notice_delay_seconds", delay);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i)
        for (const auto& [metric, value] : rows_[i].values) of_metric_[metric].push_back(i);
}

void AlertSamples::add_series(const SeriesStats& stats, series::Millis now) {
    const auto percent_of = [](std::uint64_t part, std::uint64_t whole) {
        return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    };
    if (stats.volume_bytes > 0)
        add("series-disk", {}, "series_disk_free_percent",
            percent_of(stats.volume_free_bytes, stats.volume_bytes));
    if (!stats.forwarding) return;
    const auto& [oldest, bytes, bytes_max] = *stats.forwarding;
    const series::Millis lag = oldest ? std::max<series::Millis>(0, now - *oldest) : 0;
    add("remote-write", {}, "remote_write_lag_seconds", static_cast<double>(lag / 1000));
    if (bytes_max > 0) add("remote-write", {}, "remote_write_backlog_percent", percent_of(bytes, bytes_max));
}

void AlertSamples::add(std::string device, alert::Labels labels, std::string_view metric, double value) {
    labels["device"] = device;
    std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
    rows_.push_back({.device = std::move(device), .values = {{metric, value}}, .labels = std::move(labels)});
}

void AlertSamples::add_host(const Desk& desk, const Host& host, std::int64_t fresh_since) {
    const auto live = desk.live.hosts.find(host.id);
    const bool fresh = live != desk.live.hosts.end() && live->second.sampled_at >= fresh_since;
    Row row{.device = series_host(host.id), .host = &host};
    if (host.phase != HostPhase::joining) {
        const bool silent = host.phase != HostPhase::ready;
        row.values.emplace_back("host_silent", silent ? 1 : 0);
        if (!silent) row.values.emplace_back("host_engine_down", host.engine_error.empty() ? 0 : 1);
    }
    if (fresh && live->second.sample) {
        const HostSample& sample = *live->second.sample;
        if (const auto free = used_percent(sample.disk_free_bytes, sample.disk_total_bytes))
            row.values.emplace_back("host_disk_free_percent", *free);
        if (const auto left = used_percent(sample.memory_available_bytes, sample.memory_total_bytes))
            row.values.emplace_back("host_memory_available_percent", *left);
    }
    rows_.push_back(std::move(row));
    if (live != desk.live.hosts.end() && live->second.connected && live->second.disks)
        add_disks(host, *live->second.disks);
    for (const GpuFacts& gpu : host.facts.gpus) {
        const GpuSample* sample = nullptr;
        if (fresh)
            if (const auto at = live->second.samples.find(gpu.uuid); at != live->second.samples.end())
                sample = &at->second;
        add_gpu(host, gpu, sample);
    }
}

void AlertSamples::add_disks(const Host& host, const DiskUses& disks) {
    const auto add = [&](Row row, const DiskUse& use, std::string_view bytes, std::string_view inodes) {
        if (const auto used = used_percent(use.used_bytes, use.total_bytes))
            row.values.emplace_back(bytes, *used);
        if (const auto used = used_percent(use.used_inodes, use.total_inodes))
            row.values.emplace_back(inodes, *used);
        rows_.push_back(std::move(row));
    };
    for (const auto& [id, use] : disks.volumes)
        if (const Volume* volume = desk_.estate.volumes.find(id))
            add({.device = "volume/" + id, .host = &host, .volume = volume}, use, "volume_used_percent",
                "volume_inodes_used_percent");
    for (const auto& [id, use] : disks.layers)
        if (const Instance* instance = desk_.estate.instances.find(id))
            add({.device = "layer/" + id, .host = &host, .instance = instance}, use, "layer_used_percent",
                "layer_inodes_used_percent");
}

void AlertSamples::add_gpu(const Host& host, const GpuFacts& gpu, const GpuSample* sample) {
    Row row{.device = series_gpu(host.id, gpu.uuid), .host = &host, .gpu = &gpu};
    const auto state = host.gpu_states.find(gpu.uuid);
    const GpuHealth health = state == host.gpu_states.end() ? GpuHealth::healthy : state->second.health;
    row.values.emplace_back("gpu_unfit", is_fit(health) ? 0 : 1);
    row.values.emplace_back("gpu_degraded", health == GpuHealth::degraded ? 1 : 0);
    if (sample) {
        if (sample->temperature_celsius) {
            const double slow = static_cast<double>(sample->temperature_slowdown_celsius.value_or(
                static_cast<std::int64_t>(alert::slowdown_celsius)));
            row.values.emplace_back("gpu_heat_margin_celsius",
                                    slow - static_cast<double>(*sample->temperature_celsius));
        }
        if (const auto used = used_percent(sample->memory_used_bytes, sample->memory_total_bytes))
            row.values.emplace_back("gpu_memory_used_percent", *used);
        if (sample->throttle_reasons)
            row.values.emplace_back("gpu_throttled", (*sample->throttle_reasons & held_back) != 0 ? 1 : 0);
    }
    rows_.push_back(std::move(row));
}

const alert::Labels& AlertSamples::labels_of(Row& row) {
    if (row.labels) return *row.labels;
    if (row.gpu && !holders_) holders_.emplace(desk_);
    row.labels =
        row.gpu ? series_labels(desk_, *row.host, *row.gpu, holders_->of(row.host->id, row.gpu->uuid)).labels
        : row.volume   ? series_labels(*row.host, *row.volume).labels
        : row.instance ? series_labels(*row.host, *row.instance).labels
                       : series_labels(*row.host).labels;
    (*row.labels)["device"] = row.device;
    return *row.labels;
}

// A tenant's rule looks at what that tenant holds alone.
std::vector<std::size_t> AlertSamples::rows_for(const alert::Rule& rule) {
    const auto all = of_metric_.find(rule.metric);
    if (all == of_metric_.end()) return {};
    if (rule.tenant.empty()) return all->second;
    if (!devices_) {
        devices_.emplace();
        for (const auto& [id, claim] : desk_.estate.claims.all())
            for (const std::string& gpu : claim.gpus)
                (*devices_)[claim.tenant].insert(series_gpu(claim.host, gpu));
    }
    const std::set<std::string>& own = (*devices_)[rule.tenant];
    std::vector<std::size_t> chosen;
    for (const std::size_t i : all->second) {
        const Row& row = rows_[i];
        const std::string* tenant = row.volume     ? &row.volume->tenant
                                    : row.instance ? &row.instance->tenant
                                                   : nullptr;
        if (tenant ? *tenant == rule.tenant : own.contains(row.device)) chosen.push_back(i);
    }
    return chosen;
}

std::vector<alert::Sample> AlertSamples::of(const alert::Rule& rule, const alert::RuleState& state) {
    std::set<std::string> watched;
    for (const auto& [labels, row] : state.watched)
        if (const auto device = labels.find("device"); device != labels.end()) watched.insert(device->second);
    const bool all = rule.across != alert::Across::none || rule.missing == alert::Missing::fire;
    std::vector<alert::Sample> samples;
    for (const std::size_t i : rows_for(rule)) {
        Row& row = rows_[i];
        const double value =
            std::ranges::find(row.values, rule.metric, [](const auto& one) { return one.first; })->second;
        if (all || watched.contains(row.device) || alert::breaches(rule.comparison, value, rule.threshold))
            samples.push_back({labels_of(row), value});
    }
    return alert::select(rule, samples);
}

}  // namespace hostler::master
