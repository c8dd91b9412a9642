#include "bin/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <boost/describe/enum_from_string.hpp>
#include <charconv>

#include "domain/inventory/model.h"

namespace hostler::bin {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct Number {
    const char* option;
    double RunOptions::* value;
    double least, most;  // Both 0: not checked.
    const char* help;
};
constexpr double stop_grace_most_s = 600;  // Agents give no container longer.
constexpr double job_min_run_most_s = 86'400;
constexpr auto numbers = std::to_array<Number>({
    {"--report-interval", &RunOptions::report_s, 0, 0, "Seconds between two reports of a host"},
    {"--sample-interval", &RunOptions::sample_s, 0, 300,
     "Seconds between two samples of a host's GPUs; 0: every report"},
    {"--unreachable-after", &RunOptions::unreachable_s, 0, 0,
     "Seconds of silence until a host is unreachable"},
    {"--lost-after", &RunOptions::lost_s, 0, 0, "Seconds of silence until a host is lost"},
    {"--move-lease", &RunOptions::move_lease_s, 60, 86'400,
     "Seconds that instances of loss policy move run on without a master's word; the same for all masters of "
     "a cloud"},
    {"--instance-disk", &RunOptions::instance_disk_gib, 0, 65'536,
     "GiB that an instance may write outside its volumes, on hosts that can limit it; 0: no limit"},
    {"--stop-grace", &RunOptions::stop_grace_s, 1, stop_grace_most_s,
     "Seconds between SIGTERM and SIGKILL, of instances that ask for no time of their own"},
    {"--stop-grace-max", &RunOptions::stop_grace_max_s, 1, stop_grace_most_s,
     "Seconds that instances may ask for instead"},
    {"--ready-deadline", &RunOptions::ready_s, 0, 0, "Seconds for an instance's probes to answer"},
    {"--job-min-run", &RunOptions::job_min_run_s, 0, job_min_run_most_s,
     "Seconds that a task of a job runs before another job may preempt it"},
    {"--audit-days", &RunOptions::audit_days, 30, 36'500, "Days that records of the audit are kept"},
});
constexpr const char* report_of_option = "--report-interval-of";
constexpr const char* tenants_option = "--tenants";
constexpr const char* disk_limit_option = "--require-disk-limit";

milliseconds exact(double s) { return milliseconds{static_cast<int>(s * 1000)}; }
seconds whole(double s) { return seconds{static_cast<int>(s)}; }

// "H100=1": the class, and not more than so many seconds.
Result<std::pair<std::string, milliseconds>> class_interval(const std::string& text, double longest_s) {
    constexpr double shortest_s = 0.5;
    const auto equals = text.find('=');
    const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
    double interval_s = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), interval_s);
    if (number.empty() || error != std::errc{} || end != number.data() + number.size())
        return fail(Code::invalid, "it is CLASS=SECONDS, as H100=1");
    if (!(interval_s >= shortest_s && interval_s <= longest_s))
        return fail(Code::invalid, fmt::format("its seconds are {} to {}, which is --report-interval",
                                               shortest_s, longest_s));
    const GpuModel* model = find_gpu_model(text.substr(0, equals));
    if (!model) return fail(Code::invalid, "no GPU of that class is known");
    return std::pair{std::string{model->family}, exact(interval_s)};
}

}  // namespace

void RunOptions::add_to(CLI::App& app) {
    for (const Number& number : numbers) {
        CLI::Option* option = app.add_option(number.option, this->*number.value, number.help);
        if (number.most > 0) option->check(CLI::Range(number.least, number.most));
        option->capture_default_str();
    }
    app.add_option(report_of_option, report_of,
                   "CLASS=SECONDS: --report-interval of hosts with GPUs of this class, as H100=1; not longer "
                   "than that");
    app.add_option(
           tenants_option, tenants,
           "Unknown tenants: open, they are created when they are first used; declared, they are refused")
        ->check(CLI::IsMember({"open", "declared"}))
        ->capture_default_str();
    app.add_flag(disk_limit_option, require_disk_limit,
                 "Hosts that cannot limit what instances write get no new ones");
}

Result<> RunOptions::put_into(master::Settings& settings) const {
    if (move_lease_s < 3 * report_s)
        return fail(Code::invalid,
                    fmt::format("--move-lease {} is too short: a lease is renewed by reports, and must "
                                "outlast three of {} s",
                                move_lease_s, report_s));
    if (stop_grace_s > stop_grace_max_s)
        return fail(Code::invalid, fmt::format("--stop-grace {} is more than --stop-grace-max {}",
                                               stop_grace_s, stop_grace_max_s));
    std::string wrong;
    for (const std::string& word : report_of) {
        if (const auto read = class_interval(word, report_s))
            settings.report_interval_of.insert_or_assign(read->first, read->second);
        else
            wrong += fmt::format("{}{} {}: {}", wrong.empty() ? "" : "; ", report_of_option, word,
                                 read.error().message);
    }
    if (!wrong.empty()) return fail(Code::invalid, wrong);
    settings.report_interval = exact(report_s);
    settings.telemetry_interval = exact(sample_s);
    settings.unreachable_after = whole(unreachable_s);
    settings.lost_after = whole(lost_s);
    settings.move_lease = exact(move_lease_s);
    // A host's supervisor has to look, list its containers and give them their grace, whatever the lease.
    settings.move_margin = std::max<milliseconds>(settings.move_lease / 5, seconds{60});
    settings.stop_grace = whole(stop_grace_s);
    settings.stop_grace_max = whole(stop_grace_max_s);
    settings.instance_disk_bytes =
        static_cast<std::int64_t>(instance_disk_gib * static_cast<double>(std::int64_t{1} << 30));
    settings.require_disk_limit = require_disk_limit;
    boost::describe::enum_from_string(tenants.c_str(), settings.tenants);
    settings.ready_deadline = whole(ready_s);
    settings.job_min_run = whole(job_min_run_s);
    settings.audit_kept = std::chrono::hours{static_cast<int>(audit_days * 24)};
    return {};
}

std::vector<std::string> RunOptions::arguments() const {
    std::vector<std::string> words;
    for (const Number& number : numbers)
        words.insert(words.end(), {number.option, fmt::format("{}", this->*number.value)});
    for (const std::string& of : report_of) words.insert(words.end(), {report_of_option, of});
    words.insert(words.end(), {tenants_option, tenants});
    if (require_disk_limit) words.emplace_back(disk_limit_option);
    return words;
}

}  // namespace hostler::bin
