#include "roles/master/recorder.h"

#include <algorithm>

#include "core/log.h"
#include "core/task_group.h"
#include "roles/master/capacity.h"

namespace hostler::master {

namespace {

std::map<std::string_view, const Claim*> holders_on(const Desk& desk, const std::string& host) {
    std::map<std::string_view, const Claim*> holders;
    for (const Claim* claim : claims_on(desk, host))
        for (const std::string& gpu : claim->gpus) holders[gpu] = claim;
    return holders;
}

}  // namespace

Measurement measured(const Desk& desk, const std::string& id, series::Millis time,
                     const std::map<std::string, GpuSample>& gpus, const std::optional<HostSample>& sample) {
    Measurement made{.time = time};
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) return made;
    const auto holders = holders_on(desk, id);
    for (const GpuFacts& gpu : host->facts.gpus) {
        const auto of = gpus.find(gpu.uuid);
        if (of == gpus.end()) continue;
        const auto holder = holders.find(gpu.uuid);
        made.rows.push_back(
            {.of = Measured::gpu,
             .device = series_gpu(id, gpu.uuid),
             .labels = series_labels(desk, *host, gpu, holder == holders.end() ? nullptr : holder->second)});
        add_cells(of->second, made.cells);
    }
    if (!sample) return made;
    made.rows.push_back({.of = Measured::host, .device = series_host(id), .labels = series_labels(*host)});
    add_cells(*sample, made.cells);
    return made;
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
    if (what.rows.empty() && of.reports == 0) {
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
        for (const Measurement::Row& row : report.what.rows) {
            const auto begin =
                std::exchange(cell, cell + static_cast<std::ptrdiff_t>(columns_of(row.of).size()));
            const auto number = CO_TRY(co_await number_of(report, row));
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

// nullopt: the store has no place for this device.
Task<std::optional<DeviceNumber>> Recorder::number_of(const Waiting& report, const Measurement::Row& row) {
    const auto found = known_.find(row.device);
    if (found != known_.end() && found->second.labels == row.labels.labels) co_return found->second.number;
    const auto no_room = [this] {
        ++count_.rows_refused;
        return std::optional<DeviceNumber>{};
    };
    Of& of = hosts_[report.host];
    if (found == known_.end() && of.devices >= devices_host_max) co_return no_room();
    series::Device device{.id = row.device, .columns = columns_of(row.of), .labels = row.labels.labels};
    const series::Millis from = row.labels.from != 0 ? row.labels.from : report.noticed;
    // Whose it was before its holder came is not known here: it is shown to nobody as theirs.
    if (found == known_.end() && row.labels.from != 0 && report.what.time < from) {
        series::Device before = device;
        for (const char* label : {"use", "tenant", "workload"}) before.labels.erase(label);
        const auto told = co_await store_.describe(std::move(before), report.what.time);
        if (!told && told.error().code != Code::exhausted) co_return std::unexpected(told.error());
    }
    const auto number = co_await store_.describe(std::move(device), from);
    if (!number && number.error().code == Code::exhausted) co_return no_room();
    if (!number) co_return std::unexpected(number.error());
    if (found == known_.end()) ++of.devices;
    known_[row.device] = {*number, row.labels.labels};
    co_return *number;
}

}  // namespace hostler::master
