#include "roles/master/series/recorder.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/log.h"
#include "core/task_group.h"
#include "roles/master/host/lifecycle.h"

namespace hostler::master {

Measurement measured(const Desk& desk, const std::string& id, series::Millis time,
                     const std::map<std::string, GpuSample>& gpus, const std::optional<HostSample>& sample,
                     std::vector<SeriesDevicePtr>& devices, std::optional<PodChanges> pods) {
    Measurement made{.time = time};
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) return made;
    PodsTold names{.time = time};
    if (pods) names = {.time = time, .gpus = &gpus, .changes = &pods->of, .now = pods->now};
    devices = series_devices(desk, *host, devices, names);
    made.devices.reserve(devices.size());
    made.cells.reserve(gpus.size() * columns_of(Measured::gpu).size() + columns_of(Measured::host).size());
    for (std::size_t i = 0; i < host->facts.gpus.size(); ++i) {
        const auto of = gpus.find(host->facts.gpus[i].uuid);
        if (of == gpus.end()) continue;
        made.devices.push_back(devices[i]);
        add_cells(of->second, made.cells);
    }
    std::size_t at = host->facts.gpus.size();
    for (const GpuFacts& gpu : host->facts.gpus) {
        const auto of = gpus.find(gpu.uuid);
        for (const GpuSlice& slice : gpu.slices) {
            const SeriesDevicePtr& device = devices[at++];
            if (of == gpus.end()) continue;
            const auto& samples = of->second.slices;
            const auto told = std::ranges::find(samples, slice.uuid, &SliceSample::uuid);
            if (told == samples.end()) continue;
            made.devices.push_back(device);
            add_cells(*told, made.cells);
        }
    }
    if (!sample) return made;
    made.devices.push_back(devices.back());
    add_cells(*sample, made.cells);
    return made;
}

namespace {

// Its row; null: there is none left, or it was another's then.
DiskRow* row_of(std::map<std::string, DiskRow>& rows, const std::string& key, std::string_view kind,
                series::Millis time, ReportIs which) {
    if (const auto found = rows.find(key); found != rows.end())
        return time >= found->second.from ? &found->second : nullptr;
    if (which != ReportIs::next) return nullptr;
    std::set<int> taken;
    for (const auto& [other, row] : rows)
        if (other.starts_with(kind)) taken.insert(row.number);
    int number = 0;
    while (taken.contains(number)) ++number;
    return number < disk_series_host_max ? &(rows[key] = {.number = number, .from = time}) : nullptr;
}

}  // namespace

void add_disks(const Desk& desk, const std::string& id, const DiskUses& disks, ReportIs which,
               std::map<std::string, DiskRow>& rows, Measurement& into) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) return;
    const auto add = [&](Measured of, const auto& table, const std::string& subject, const DiskUse& use) {
        const auto* named = table.find(subject);
        if (!named) return;
        const std::string kind = boost::describe::enum_to_string(of, "");
        DiskRow* row = row_of(rows, kind + "/" + subject, kind, into.time, which);
        if (!row) return;
        SeriesLabels labels = series_labels(*host, *named);
        labels.from = row->from;
        SeriesDevicePtr& device = row->device;
        if (!device || device->labels != labels)
            device = std::make_shared<const SeriesDevice>(
                SeriesDevice{of, fmt::format("{}/{}/{}", kind, id, row->number), std::move(labels)});
        into.devices.push_back(device);
        add_cells(use, into.cells);
    };
    for (const auto& [volume, use] : disks.volumes) add(Measured::volume, desk.estate.volumes, volume, use);
    for (const auto& [instance, use] : disks.layers)
        add(Measured::layer, desk.estate.instances, instance, use);
}

series::Millis measured_at(std::int64_t time, std::optional<std::int64_t> age, WallTime now) {
    const std::int64_t ours = now.time_since_epoch().count();
    time = std::clamp<std::int64_t>(time, 0, ours);
    if (!age) return (time == 0 ? ours : time) / 1000;
    const std::int64_t at = ours - std::clamp<std::int64_t>(*age, 0, ours);
    const bool agreed = std::abs(time - at) <= std::chrono::microseconds{clock_error_max}.count();
    return (agreed ? time : at) / 1000;
}

bool Recorder::take(const std::string& host, Measurement what, std::move_only_function<void()> then) {
    Of& of = hosts_[host];
    if (of.turned_away) return false;
    if (what.devices.empty() && of.reports == 0) {
        then();
        return true;
    }
    if (count_.cells_waiting > 0 && count_.cells_waiting + what.cells.size() > cells_max) {
        of.turned_away = true;
        ++count_.turned_away;
        return false;
    }
    count_.cells_waiting += what.cells.size();
    ++of.reports;
    waiting_.push_back({.host = host,
                        .what = std::move(what),
                        .then = std::move(then),
                        .since = timers_.now(),
                        .noticed = series_millis(timers_.wall())});
    changed_.notify_all();
    return true;
}

bool Recorder::turned_away(const std::string& host) const {
    const auto of = hosts_.find(host);
    return of != hosts_.end() && of->second.turned_away;
}

void Recorder::readmit(const std::string& host) { hosts_[host].turned_away = false; }

bool Recorder::behind() const {
    const auto& first = round_.empty() ? waiting_ : round_;
    return !first.empty() && timers_.now() - first.front().since > behind_after;
}

Task<> Recorder::let_pass(std::string host) {
    const auto too_much = [&] {
        const auto of = hosts_.find(host);
        return of != hosts_.end() && of->second.reports > reports_host_max && !behind();
    };
    if (!too_much()) co_return Result<>{};
    const Deadline patience{timers_, behind_after, [this] { changed_.notify_all(); }};
    while (too_much() && !patience.expired()) CO_TRY(co_await changed_.wait());
    co_return Result<>{};
}

void Recorder::forget() {
    waiting_.clear();
    for (Waiting& report : round_) report.then = nullptr;
}

Task<> Recorder::run() {
    while (true) {
        while (waiting_.empty()) CO_TRY(co_await changed_.wait());
        if (const Duration early = round_due_ - timers_.now(); early > Duration{0})
            CO_TRY(co_await sleep(timers_, early));
        round_due_ = timers_.now() + round_least;
        next_round();
        for (bool failing = false;; failing = true) {
            const auto stored = co_await store_round();
            CO_TRY(co_await check_cancelled());
            if (stored) break;
            ++count_.failures;
            if (!failing)
                log_error("series: samples are not stored, hosts keep them: {}", stored.error().message);
            CO_TRY(co_await sleep(timers_, std::chrono::seconds{1}));
        }
        for (Waiting& report : std::exchange(round_, {})) {
            count_.cells_waiting -= report.what.cells.size();
            --hosts_[report.host].reports;
            if (report.then) report.then();
        }
        changed_.notify_all();
    }
}

void Recorder::next_round() {
    std::size_t cells = 0;
    while (!waiting_.empty() &&
           (round_.empty() || cells + waiting_.front().what.cells.size() <= round_cells_max)) {
        cells += waiting_.front().what.cells.size();
        round_.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
}

Task<> Recorder::store_round() {
    SampleBatch batch;
    for (const Waiting& report : round_) {
        auto cell = report.what.cells.begin();
        for (const SeriesDevicePtr& device : report.what.devices) {
            const auto begin =
                std::exchange(cell, cell + static_cast<std::ptrdiff_t>(columns_of(device->of).size()));
            auto number = number_of(device);
            if (!number) number = CO_TRY(co_await describe(report, device));
            if (!number) continue;
            batch.rows.push_back({*number, report.what.time});
            batch.cells.insert(batch.cells.end(), begin, cell);
        }
    }
    if (batch.rows.empty()) co_return Result<>{};
    const std::size_t rows = batch.rows.size();
    CO_TRY(co_await store_.append(std::move(batch)));
    count_.rows += rows;
    co_return Result<>{};
}

// nullopt: the store does not know it, or not with these labels.
std::optional<DeviceNumber> Recorder::number_of(const SeriesDevicePtr& device) {
    const auto found = known_.find(device->id);
    if (found == known_.end()) return std::nullopt;
    auto& [number, told] = found->second;
    if (told != device) {
        if (told->labels.labels != device->labels.labels) return std::nullopt;
        told = device;
    }
    return number;
}

// nullopt: the store has no place for this device.
Task<std::optional<DeviceNumber>> Recorder::describe(const Waiting& report, SeriesDevicePtr told) {
    const bool known = known_.contains(told->id);
    const auto no_room = [this] {
        ++count_.rows_refused;
        return std::optional<DeviceNumber>{};
    };
    Of& of = hosts_[report.host];
    if (!known && of.devices >= devices_host_max) co_return no_room();
    series::Device device{.id = told->id, .columns = columns_of(told->of), .labels = told->labels.labels};
    const series::Millis from = told->labels.from != 0 ? told->labels.from : report.noticed;
    // Whose it was before its holder came is not known here: it is shown to nobody as theirs.
    if (!known && told->labels.from != 0 && report.what.time < from) {
        series::Device before = device;
        for (const char* label : {"cluster", "container", "namespace", "node", "pod", "project", "tenant",
                                  "use", "volume", "workload"})
            before.labels.erase(label);
        const auto described = co_await store_.describe(std::move(before), report.what.time);
        if (!described && described.error().code != Code::exhausted)
            co_return std::unexpected(described.error());
    }
    const auto number = co_await store_.describe(std::move(device), from);
    if (!number && number.error().code == Code::exhausted) co_return no_room();
    if (!number) co_return std::unexpected(number.error());
    if (!known) ++of.devices;
    known_[told->id] = {*number, told};
    co_return *number;
}

}  // namespace hostler::master
