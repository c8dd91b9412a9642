#include "roles/agent/reports.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "proto/uplink.pb.h"

namespace hostler::agent {

ReportQueue::ReportQueue(Journal& journal, std::size_t size_max) : journal_(journal), size_max_(size_max) {}

ReportQueue::~ReportQueue() = default;

Task<> ReportQueue::reserve() {
    constexpr std::uint64_t block = 10'000;
    if (last_ >= reserved_) {
        const auto stored = journal_.all().find("sequence");
        std::uint64_t from = last_;
        if (reserved_ == 0 && stored != journal_.all().end())
            from = std::strtoull(stored->second.c_str(), nullptr, 10);
        CO_TRY(co_await journal_.put("sequence", fmt::format("{}", from + block)));
        last_ = std::max(last_, from);
        reserved_ = from + block;
    }
    co_return Result<>{};
}

Task<> ReportQueue::push(uplink::Report report) {
    CO_TRY(co_await reserve());
    report.set_sequence(++last_);
    reports_.push_back(std::make_unique<uplink::Report>(std::move(report)));
    make_room();
    co_return Result<>{};
}

void ReportQueue::acknowledge(std::uint64_t sequence) {
    ++answers_;
    while (!reports_.empty() && reports_.front()->sequence() <= sequence) reports_.pop_front();
}

void ReportQueue::grow_old(std::uint64_t told) {
    for (auto& report : reports_) {
        if (report->sequence() <= told) report->clear_facts();
        report->set_workloads_complete(false);
        report->clear_volumes();
        report->clear_networks();
        report->clear_layers();
        report->set_layers_told(false);
    }
}

const uplink::Report* ReportQueue::after(std::uint64_t sequence) const {
    const auto found = std::ranges::upper_bound(reports_, sequence, {},
                                                [](const auto& report) { return report->sequence(); });
    return found == reports_.end() ? nullptr : found->get();
}

std::uint64_t ReportQueue::settled() const {
    return reports_.empty() ? last_ : reports_.front()->sequence() - 1 - reports_.front()->missing();
}

void ReportQueue::make_room() {
    if (reports_.size() <= size_max_) return;
    const auto old = std::find_if(reports_.begin(), std::prev(reports_.end()),
                                  [](const auto& report) { return only_telemetry(*report); });
    if (old != std::prev(reports_.end())) {
        auto& next = **std::next(old);
        next.set_missing(next.missing() + (*old)->missing() + 1);
        ++dropped_;
        reports_.erase(old);
        return;
    }
    for (int at : {0, 1})
        if (!reports_[at]->gpus().empty() || reports_[at]->has_host()) ++dropped_;
    const std::uint64_t missing = reports_[0]->missing() + 1 + reports_[1]->missing();
    merge(*reports_[0], *reports_[1]);
    reports_[1]->set_missing(missing);
    reports_.pop_front();
}

// A complete list that repeats what is known says nothing that the next one does not say too.
bool ReportQueue::only_telemetry(const uplink::Report& report) {
    return !report.has_facts() && report.faults().empty() &&
           (report.workloads().empty() || report.workloads_complete());
}

void ReportQueue::merge(uplink::Report& older, uplink::Report& newer) {
    std::map<std::string, uplink::Workload> workloads;
    for (auto* from : {&older, &newer})
        for (auto& workload : *from->mutable_workloads()) workloads[workload.instance()] = workload;
    if (!newer.has_facts() && older.has_facts()) *newer.mutable_facts() = std::move(*older.mutable_facts());
    uplink::Report merged = std::move(newer);
    merged.clear_workloads();
    for (auto& [instance, workload] : workloads) *merged.add_workloads() = std::move(workload);
    merged.set_workloads_complete(false);
    merged.clear_volumes();
    merged.clear_networks();
    merged.clear_layers();
    merged.set_layers_told(false);
    merged.clear_gpus();
    merged.clear_host();
    merged.clear_disks();
    merged.clear_instances();
    merged.clear_pod_devices();
    auto faults = older.faults();
    faults.MergeFrom(merged.faults());
    const int over = std::max(0, faults.size() - static_cast<int>(faults_max));
    faults.DeleteSubrange(0, over);
    *merged.mutable_faults() = std::move(faults);
    newer = std::move(merged);
}

}  // namespace hostler::agent
