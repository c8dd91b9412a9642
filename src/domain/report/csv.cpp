#include <fmt/format.h>

#include "core/safe_text.h"
#include "domain/report/order.h"
#include "domain/report/rules.h"
#include "domain/report/text.h"

namespace hostler::report {

namespace {

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

std::string labels_head(const Report& report) {
    std::string head;
    for (const std::string& name : label_order(report)) head += name + ",";
    return head;
}

std::string labels_of(const Report& report, const Labels& labels) {
    std::string line;
    for (const std::string& name : label_order(report)) line += csv_field(label_in(labels, name)) + ",";
    return line;
}

std::string usage_csv(const Report& report) {
    std::string csv = labels_head(report) +
                      "gpus,measured_hours,claimed_hours,other_hours,free_hours,busy_hours,idle_hours,"
                      "unknown_hours,utilization_percent,memory_used_percent,energy_kwh\n";
    for (const UsageLine& line : report.usage)
        csv += labels_of(report, line.labels) +
               fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", line.gpus, line.measured_hours,
                           line.claimed_hours, line.other_hours, line.free_hours, line.busy_hours,
                           line.idle_hours, line.unknown_hours, number(line.utilization_percent),
                           number(line.memory_used_percent), line.energy_kwh);
    return csv;
}

std::string waste_csv(const Report& report) {
    std::string csv = labels_head(report) +
                      "gpus,claimed_hours,idle_hours,idle_percent,longest_hours,idle_since,"
                      "memory_used_percent,energy_kwh,idle_cost,advice\n";
    for (const WasteLine& line : report.waste)
        csv += labels_of(report, line.labels) +
               fmt::format("{},{},{},{},{},{},{},{},{},{}\n", line.gpus, line.claimed_hours, line.idle_hours,
                           line.idle_percent, line.longest_hours,
                           line.idle_since ? rfc3339(*line.idle_since) : "", number(line.memory_used_percent),
                           line.energy_kwh, csv_field(text_of(line.idle_costs)), csv_field(line.advice));
    return csv;
}

std::string bottlenecks_csv(const Report& report) {
    std::string csv = labels_head(report) + "verdict,hours,percent,evidence,advice\n";
    for (const Finding& line : report.bottlenecks)
        csv += labels_of(report, line.labels) +
               fmt::format("{},{},{},{},{}\n", boost::describe::enum_to_string(line.verdict, ""), line.hours,
                           line.percent, csv_field(text_of(line.evidence)), csv_field(line.advice));
    return csv;
}

}  // namespace

std::string csv(const Report& report, Section section) {
    switch (section) {
        case Section::usage: return usage_csv(report);
        case Section::waste: return waste_csv(report);
        case Section::bottlenecks: return bottlenecks_csv(report);
    }
    broken("a section outside its enum", __FILE__, __LINE__);
}

std::string text_of(const std::vector<Evidence>& evidence) {
    std::string text;
    for (const Evidence& one : evidence)
        text += fmt::format("{}{} {:.3g}{}{}", text.empty() ? "" : ", ", one.figure, one.value,
                            one.unit.empty() ? "" : " ", one.unit);
    return text;
}

std::string text_of(const std::vector<Cost>& costs) {
    std::string text;
    for (const Cost& cost : costs)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cost.amount, cost.currency);
    return text;
}

std::string name_of(const Labels& labels) {
    std::string name;
    for (const auto& [label, value] : labels)
        if (!value.empty()) name += (name.empty() ? "" : " / ") + value;
    return !name.empty() ? name : labels.empty() ? "all" : "nobody";
}

std::string summary(const Report& report) {
    const UsageLine& all = report.total;
    std::string text = fmt::format("From {} to {} UTC, {} {} measured for {:.1f} GPU-hours.\n",
                                   rfc3339(report.from).substr(0, 16), rfc3339(report.to).substr(0, 16),
                                   all.gpus, all.gpus == 1 ? "GPU was" : "GPUs were", all.measured_hours);
    if (all.claimed_hours > 0)
        text += fmt::format("Of these, {:.1f} were claimed, and {:.1f} claimed and idle{}{}.\n",
                            all.claimed_hours, all.idle_hours,
                            report.idle_costs.empty() ? "" : ", at a price of ", text_of(report.idle_costs));
    if (all.utilization_percent)
        text += fmt::format("The claimed GPUs were busy {:.1f} % of the time.\n", *all.utilization_percent);
    for (std::size_t i = 0; i < std::min<std::size_t>(5, report.waste.size()); ++i) {
        const WasteLine& line = report.waste[i];
        text += fmt::format("- {}: {:.1f} idle GPU-hours ({:.0f} %). {}\n", name_of(line.labels),
                            line.idle_hours, line.idle_percent, line.advice);
    }
    return text;
}

}  // namespace hostler::report
