#include "bin/master_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/describe/enum_from_string.hpp>
#include <charconv>

#include "bin/templates.h"
#include "domain/inventory/model.h"

namespace hostler::bin {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

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

Result<> check_move_lease(double move_lease_s, double report_s) {
    if (move_lease_s >= 3 * report_s) return {};
    return fail(Code::invalid, fmt::format("--move-lease {} is too short: a lease is renewed by reports, and "
                                           "must outlast three of {} s",
                                           move_lease_s, report_s));
}

Result<> check_stop_grace(double stop_grace_s, double stop_grace_max_s) {
    if (stop_grace_s <= stop_grace_max_s) return {};
    return fail(Code::invalid, fmt::format("--stop-grace {} is more than --stop-grace-max {}", stop_grace_s,
                                           stop_grace_max_s));
}

Result<ClassIntervals> read_class_intervals(const std::vector<std::string>& words, double longest_s) {
    ClassIntervals intervals;
    std::string wrong;
    for (const std::string& word : words) {
        if (const auto read = class_interval(word, longest_s))
            intervals.insert_or_assign(read->first, read->second);
        else
            wrong += fmt::format("{}--report-interval-of {}: {}", wrong.empty() ? "" : "; ", word,
                                 read.error().message);
    }
    if (!wrong.empty()) return fail(Code::invalid, wrong);
    return intervals;
}

void MasterOptions::add_to(CLI::App& app) {
    add_places(app);
    add_leadership(app);
    add_times(app);
    add_admission(app);
    series_.add_to(app);
    app.add_option(
        "--alert-reach", alert_reach_,
        "Addresses allowed for tenants' alert receivers in addition to public ones, as 10.1.0.0/16");
    remote_write.add_to(app);
}

void MasterOptions::add_places(CLI::App& app) {
    app.add_option("--data", data, "Folder of the store, the authority and the operator's key")->required();
    app.add_option(
           "--store", store,
           "postgresql://USER@HOST/DATABASE, where the store is kept; else it is the file store.db in --data")
        ->envname("HOSTLER_STORE");
    app.add_flag(
        "--new-store", new_store,
        "Begin a new, empty cloud in an empty store although the authority has already served another; "
        "leave it out afterwards");
    app.add_option("--api", settings.api_address, "Where the API listens")->capture_default_str();
    app.add_option("--wire", settings.wire_address, "Where access points and gateways connect")
        ->capture_default_str();
    app.add_option("--authority", authority,
                   "Folder of the certificate authority, the same for all masters; else authority in --data");
    app.add_option("--public-url", settings.public_url, "How people reach the API");
    tls.add_to(app);
    proxies_.add_to(app);
    hsts_s_ = static_cast<double>(settings.hsts.count());
    app.add_option("--hsts", hsts_s_,
                   "With TLS: seconds for which browsers keep to https (HSTS); 0: HSTS is off")
        ->check(CLI::Range(0.0, 63'072'000.0))
        ->capture_default_str();
    app.add_option("--zone", zones_, "NAME:PLACE of a zone to make at the first start");
    app.add_option("--network-pool", settings.network_pool,
                   "Addresses of instances: ranges of /8 to /24, with commas")
        ->capture_default_str();
    app.add_option("--templates", templates, "Folder of instance templates")
        ->default_val(template_folder().string());
    app.add_option("--metrics", metrics, "Where metrics are read, HOST:PORT; empty: nowhere");
    app.add_option("--ready-file", ready_file, "Is written once it answers");
}

void MasterOptions::add_leadership(CLI::App& app) {
    lease_s_ = std::chrono::duration<double>(settings.lease).count();
    app.add_option("--name", settings.name, "Its name among the masters that share a store")
        ->capture_default_str();
    app.add_option("--advertise", settings.advertise,
                   "--wire as the other masters, access points and gateways reach it");
    app.add_option("--lease", lease_s_,
                   "Seconds of the leader's lease, and so the longest time without a leader after a crash; a "
                   "leader that stalls for half of it steps down")
        ->check(CLI::Range(0.2, 3600.0))
        ->capture_default_str();
}

void MasterOptions::add_times(CLI::App& app) {
    app.add_option("--report-interval", report_s_, "Seconds between two reports of a host")
        ->capture_default_str();
    app.add_option(
        "--report-interval-of", report_of_,
        "CLASS=SECONDS: the same of hosts with GPUs of this class, as H100=1; not longer than that");
    app.add_option("--sample-interval", sample_s_,
                   "Seconds between two samples of a host's GPUs; 0: every report")
        ->check(CLI::Range(0.0, 300.0))
        ->capture_default_str();
    app.add_option("--unreachable-after", unreachable_s_, "Seconds of silence")->capture_default_str();
    app.add_option("--lost-after", lost_s_, "Seconds of silence")->capture_default_str();
    app.add_option(
           "--move-lease", move_lease_s_,
           "Seconds that instances of loss policy move run on without a master's word; the same for all "
           "masters of a cloud")
        ->check(CLI::Range(60.0, 86'400.0))
        ->capture_default_str();
    app.add_option(
           "--instance-disk", instance_disk_gib_,
           "GiB that an instance may write outside its volumes, on hosts that can limit it; 0: no limit")
        ->check(CLI::Range(0.0, 65'536.0))
        ->capture_default_str();
    app.add_option("--layers-ahead", settings.layers_ahead_host_max,
                   "Empty file systems of --instance-disk that a host makes ahead, one for each idle slot, "
                   "so that a start does not wait for it; 64 MiB of disk each; 0: none")
        ->check(CLI::Range(0, 64))
        ->capture_default_str();
    app.add_flag("--require-disk-limit", settings.require_disk_limit,
                 "Hosts that cannot limit what instances write get no new ones");
    app.add_option("--stop-grace", stop_grace_s_,
                   "Seconds between SIGTERM and SIGKILL, of instances that ask for no time of their own")
        ->check(CLI::Range(1.0, stop_grace_most_s))
        ->capture_default_str();
    app.add_option("--stop-grace-max", stop_grace_max_s_, "Seconds that instances may ask for instead")
        ->check(CLI::Range(1.0, stop_grace_most_s))
        ->capture_default_str();
    app.add_option("--ready-deadline", ready_s_, "Seconds for an instance's probes to answer")
        ->capture_default_str();
    app.add_option("--drain", drain_s_, "Seconds that requests under way have to end, on SIGTERM")
        ->check(CLI::Range(0.0, 86'400.0))
        ->capture_default_str();
}

void MasterOptions::add_admission(CLI::App& app) {
    app.add_option(
           "--host-admission", admission_,
           "Whether hosts must pass a test before they sell: off; standard, where trusted hosts of which "
           "nothing can be measured are let in; required")
        ->check(CLI::IsMember({"off", "standard", "required"}))
        ->capture_default_str();
    app.add_option("--challenge-every", challenge_h_,
                   "Hours, about, after which a host's unused GPUs are to prove their memory again; 0: never")
        ->check(CLI::Range(0.0, 8760.0))
        ->capture_default_str();
    app.add_option(
           "--network-every", network_h_,
           "Hours, about, after which the way between a host and an access point is measured again; 0: never")
        ->check(CLI::Range(0.0, 8760.0))
        ->capture_default_str();
}

Result<> MasterOptions::finish() {
    TRY(tls.check("--public-url", settings.public_url));
    proxies = TRY(proxies_.read());
    TRY(check_move_lease(move_lease_s_, report_s_));
    TRY(check_stop_grace(stop_grace_s_, stop_grace_max_s_));
    TRY(series_.put_into(settings));
    TRY(read_reach());
    read_zones();
    read_times();
    settings.report_interval_of = TRY(read_class_intervals(report_of_, report_s_));
    boost::describe::enum_from_string(admission_.c_str(), settings.host_admission);
    return {};
}

Result<> MasterOptions::read_reach() {
    for (const std::string& text : alert_reach_) {
        const auto range = parse_ip_range(text);
        if (!range)
            return fail(Code::invalid, fmt::format("--alert-reach {}: {}", text, range.error().message));
        reach.allowed.push_back(*range);
    }
    return {};
}

void MasterOptions::read_zones() {
    for (const std::string& zone : zones_) {
        const auto colon = zone.find(':');
        settings.zones.push_back(
            {zone.substr(0, colon), colon == std::string::npos ? "" : zone.substr(colon + 1)});
    }
}

void MasterOptions::read_times() {
    settings.lease = exact(lease_s_);
    settings.hsts = whole(hsts_s_);
    settings.report_interval = exact(report_s_);
    settings.telemetry_interval = exact(sample_s_);
    settings.unreachable_after = whole(unreachable_s_);
    settings.lost_after = whole(lost_s_);
    settings.move_lease = exact(move_lease_s_);
    // A host's supervisor has to look, list its containers and give them their grace, whatever the lease.
    settings.move_margin = std::max<milliseconds>(settings.move_lease / 5, seconds{60});
    settings.challenge.every = std::chrono::minutes{static_cast<int>(challenge_h_ * 60)};
    settings.network_every = std::chrono::minutes{static_cast<int>(network_h_ * 60)};
    settings.stop_grace = whole(stop_grace_s_);
    settings.stop_grace_max = whole(stop_grace_max_s_);
    settings.instance_disk_bytes =
        static_cast<std::int64_t>(instance_disk_gib_ * static_cast<double>(std::int64_t{1} << 30));
    settings.ready_deadline = whole(ready_s_);
    drain = exact(drain_s_);
}

}  // namespace hostler::bin
