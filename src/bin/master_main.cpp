#include <CLI/CLI.hpp>
#include <algorithm>

#include "adapters/curl/outgoing.h"
#include "adapters/net/authority.h"
#include "adapters/net/digest.h"
#include "adapters/net/issued.h"
#include "adapters/postgres/store.h"
#include "adapters/series/store.h"
#include "adapters/sodium/sealer.h"
#include "adapters/sqlite/store.h"
#include "bin/arguments.h"
#include "bin/metrics.h"
#include "bin/process.h"
#include "bin/ready_file.h"
#include "bin/remote_write.h"
#include "bin/roles.h"
#include "bin/templates.h"
#include "core/log.h"
#include "core/quantity.h"
#include "core/worker.h"
#include "roles/master/master.h"

namespace hostler::bin {

namespace {

namespace fs = std::filesystem;

Task<> run(Process& process, fs::path data, std::string store_url, master::Settings settings,
           fs::path authority_folder, fs::path templates, std::string metrics, Duration drain,
           std::string ready_file, RemoteWriteOptions remote_write_options, curl::ReachPolicy reach) {
    fs::create_directories(data);
    if (!templates.empty()) settings.templates = CO_TRY(read_templates(templates));
    if (authority_folder.empty()) authority_folder = data / "authority";
    CO_TRY(issue_credentials(process, authority_folder, data, "master", settings.name));
    const auto authority =
        CO_TRY(net::open_authority(authority_folder, *process.random, process.timers->wall()));
    const net::FolderOfIssuedKeys issued{authority_folder};
    const auto sealer = CO_TRY(sodium::open_sealer(authority_folder / sealing_keys_file));
    const auto worker = make_worker(process.loop, "store");
    const auto lease_worker = make_worker(process.loop, "lease");
    const auto store =
        CO_TRY(store_url.empty() ? open_sqlite(data / "store.db", *worker)
                                 : open_postgres(std::move(store_url), *worker, *lease_worker));
    const auto series_worker = make_worker(process.loop, "series");
    const auto query_worker = make_worker(process.loop, "queries");
    const auto series = CO_TRY(series::open_store(*series_worker, *query_worker, data / "series", {},
                                                  new_id(*process.random, "series", 20)));
    const auto check_worker = make_worker(process.loop, "challenges");
    const auto outgoing = curl::make_outgoing(process.loop, *process.timers, std::move(reach));
    const auto remote_write =
        CO_TRY(RemoteWrite::open(process, *outgoing, data, remote_write_options, *series));
    net::OpenSslDigest digest;
    const std::string operator_key = read_file(data / "operator.key");
    if (!operator_key.empty()) settings.operator_key_hash = digest.sha256(operator_key);
    const auto keys = net::make_keys();
    Certified own{CO_TRY(load_credentials(data)), *keys, keep_certificate(data)};
    master::Master role{std::move(settings),
                        {process.loop, *process.timers, *process.net, *process.random, *store, *authority,
                         digest, own, remote_write->store(), *outgoing, *sealer, &issued, check_worker.get(),
                         series.get()}};
    process.leave = [&role, drain] { return role.leave(drain); };
    TaskGroup group{process.loop};
    MetricsServer shown{process, std::move(metrics)};
    MetricsServer::Pages pages;
    pages["/metrics/gpus"] = [&role](MetricsPage& page, const std::string& zone) {
        return role.write_gpu_metrics(page, zone);
    };
    const auto write_metrics = [&role, &sent = *remote_write](MetricsPage& page) {
        role.write_metrics(page);
        sent.write_metrics(page);
    };
    CO_TRY(co_await shown.start(group, write_metrics, std::move(pages)));
    remote_write->start(group);
    group.start("ready", tell_when_ready(role, std::move(ready_file), [&] {
                    return shown.with({{"api", role.api_address()}, {"wire", role.wire_address()}});
                }));
    const auto ended = co_await role.run();
    co_await group.close();
    co_await shown.stop();
    co_return ended;
}

// "15d", "36h", "2y".
Result<Duration> span_of(std::string_view option, const std::string& text) {
    using std::chrono::hours;
    char* end = nullptr;
    const long number = std::strtol(text.c_str(), &end, 10);
    const std::string_view unit{end};
    const long each = unit == "h" ? 1 : unit == "d" ? 24 : unit == "y" ? 365 * 24 : 0;
    if (number < 1 || number > 100'000 || each == 0)
        return fail(Code::invalid, fmt::format("{} {}: it is a number of h, d or y, as 15d", option, text));
    return hours{number * each};
}

Result<> series_settings(const std::string& raw, const std::string& minute, const std::string& hour,
                         const std::string& disk_max, master::Settings& into) {
    into.series_kept.raw = TRY(span_of("--series-raw", raw));
    into.series_kept.minute = TRY(span_of("--series-minute", minute));
    into.series_kept.hour = TRY(span_of("--series-hour", hour));
    if (into.series_kept.minute < into.series_kept.raw || into.series_kept.hour < into.series_kept.minute)
        return fail(Code::invalid,
                    "--series-raw, --series-minute, --series-hour: what is coarser is kept no shorter");
    if (disk_max.empty()) return {};
    const auto bytes = parse_quantity(disk_max);
    if (!bytes || bytes->units() <= 0)
        return fail(Code::invalid, fmt::format("--series-disk-max {}: it is a quantity, as 200Gi", disk_max));
    into.series_disk_max = static_cast<std::uint64_t>(bytes->units());
    return {};
}

}  // namespace

int master_main(int argc, const char* const* argv) {
    CLI::App app{"Run a master: it registers hosts, decides, and answers the API.", "hostler master"};
    master::Settings settings;
    std::string data, store, authority, ready_file, templates, metrics;
    std::vector<std::string> zones, alert_reach;
    std::string raw = "15d", minute = "90d", hour = "2y", disk_max;
    double lease_s = std::chrono::duration<double>(settings.lease).count();
    double report_s = 10, sample_s = 0, unreachable_s = 35, lost_s = 300, move_lease_s = 600,
           stop_grace_s = 10, ready_s = 300, drain_s = 5;
    app.add_option("--data", data, "Folder of the store, the authority and the operator's key")->required();
    app.add_option(
           "--store", store,
           "postgresql://USER@HOST/DATABASE, where the store is kept; else it is the file store.db in --data")
        ->envname("HOSTLER_STORE");
    app.add_option("--api", settings.api_address, "Where the API listens")->capture_default_str();
    app.add_option("--wire", settings.wire_address, "Where access points and gateways connect")
        ->capture_default_str();
    app.add_option("--name", settings.name, "Its name among the masters that share a store")
        ->capture_default_str();
    app.add_option("--advertise", settings.advertise,
                   "--wire as the other masters, access points and gateways reach it");
    app.add_option(
           "--lease", lease_s,
           "Seconds of leadership: so long at most nobody leads when a leader dies; one that stands still "
           "for half of it leads no longer")
        ->check(CLI::Range(0.2, 3600.0))
        ->capture_default_str();
    app.add_option("--authority", authority,
                   "Folder of the certificate authority, the same for all masters; else authority in --data");
    app.add_option("--public-url", settings.public_url, "How people reach the API");
    app.add_option("--zone", zones, "NAME:PLACE of a zone to make at the first start");
    app.add_option("--network-pool", settings.network_pool, "Addresses of instances")->capture_default_str();
    app.add_option("--report-interval", report_s, "Seconds between two reports of a host")
        ->capture_default_str();
    app.add_option("--sample-interval", sample_s,
                   "Seconds between two samples of a host's GPUs; 0: as often as it reports")
        ->check(CLI::Range(0.0, 300.0))
        ->capture_default_str();
    app.add_option("--unreachable-after", unreachable_s, "Seconds of silence")->capture_default_str();
    app.add_option("--lost-after", lost_s, "Seconds of silence")->capture_default_str();
    app.add_option(
           "--move-lease", move_lease_s,
           "Seconds that instances of loss policy move run on without a master's word; the same for all "
           "masters of a cloud")
        ->check(CLI::Range(60.0, 86'400.0))
        ->capture_default_str();
    std::string admission = "standard";
    double challenge_h = 24;
    app.add_option(
           "--host-admission", admission,
           "Whether hosts must pass a test before they sell: off; standard, where trusted hosts of which "
           "nothing can be measured are let in; required")
        ->check(CLI::IsMember({"off", "standard", "required"}))
        ->capture_default_str();
    app.add_option("--challenge-every", challenge_h,
                   "Hours, about, after which a host's unused GPUs are to prove their memory again; 0: never")
        ->check(CLI::Range(0.0, 8760.0))
        ->capture_default_str();
    app.add_option("--stop-grace", stop_grace_s, "Seconds between SIGTERM and SIGKILL")
        ->capture_default_str();
    app.add_option("--ready-deadline", ready_s, "Seconds for an instance's probes to answer")
        ->capture_default_str();
    app.add_option("--series-raw", raw, "So long samples are kept as they came: 15d, 36h")
        ->capture_default_str();
    app.add_option("--series-minute", minute, "So long a point of each minute")->capture_default_str();
    app.add_option("--series-hour", hour, "So long a point of each hour")->capture_default_str();
    app.add_option(
        "--series-disk-max", disk_max,
        "Of the disk for series, as 200Gi: beyond it the oldest samples are thinned sooner; else no "
        "bound");
    app.add_option("--templates", templates, "Folder of instance templates")
        ->default_val(template_folder().string());
    app.add_option("--drain", drain_s, "Seconds that requests under way have to end, on SIGTERM")
        ->check(CLI::Range(0.0, 86'400.0))
        ->capture_default_str();
    app.add_option("--alert-reach", alert_reach,
                   "Addresses where tenants' alert receivers may lie beside public ones, as 10.1.0.0/16");
    app.add_option("--metrics", metrics, "Where metrics are read, HOST:PORT; empty: nowhere");
    RemoteWriteOptions remote_write;
    remote_write.add_to(app);
    app.add_option("--ready-file", ready_file, "Is written once it answers");
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    if (move_lease_s < 3 * report_s) {
        fmt::print(
            stderr,
            "--move-lease {} is too short: a lease is renewed by reports, and must outlast three of {} s\n",
            move_lease_s, report_s);
        return 2;
    }
    if (const auto kept = series_settings(raw, minute, hour, disk_max, settings); !kept) {
        fmt::print(stderr, "{}\n", kept.error().message);
        return 2;
    }
    curl::ReachPolicy reach;
    for (const std::string& text : alert_reach) {
        const auto range = parse_ip_range(text);
        if (!range) {
            fmt::print(stderr, "--alert-reach {}: {}\n", text, range.error().message);
            return 2;
        }
        reach.allowed.push_back(*range);
    }
    using std::chrono::milliseconds;
    settings.lease = milliseconds{static_cast<int>(lease_s * 1000)};
    settings.report_interval = milliseconds{static_cast<int>(report_s * 1000)};
    settings.telemetry_interval = milliseconds{static_cast<int>(sample_s * 1000)};
    settings.unreachable_after = std::chrono::seconds{static_cast<int>(unreachable_s)};
    settings.lost_after = std::chrono::seconds{static_cast<int>(lost_s)};
    settings.move_lease = milliseconds{static_cast<int>(move_lease_s * 1000)};
    // A host's supervisor has to look, list its containers and give them their grace, whatever the lease.
    settings.move_margin = std::max<milliseconds>(settings.move_lease / 5, std::chrono::seconds{60});
    boost::describe::enum_from_string(admission.c_str(), settings.host_admission);
    settings.challenge.every = std::chrono::minutes{static_cast<int>(challenge_h * 60)};
    settings.stop_grace = std::chrono::seconds{static_cast<int>(stop_grace_s)};
    settings.ready_deadline = std::chrono::seconds{static_cast<int>(ready_s)};
    for (const std::string& zone : zones) {
        const auto colon = zone.find(':');
        settings.zones.push_back(
            {zone.substr(0, colon), colon == std::string::npos ? "" : zone.substr(colon + 1)});
    }
    set_log_name("master");
    const bool everywhere =
        settings.wire_address.starts_with("0.0.0.0:") || settings.wire_address.starts_with("[::]:");
    if (!store.empty() && everywhere && settings.advertise.empty())
        log_warn("other masters cannot be told where this one is: --advertise says how they reach {}",
                 settings.wire_address);
    Process process;
    return run_until_signalled(process, run(process, data, store, std::move(settings), authority, templates,
                                            metrics, milliseconds{static_cast<int>(drain_s * 1000)},
                                            ready_file, remote_write, std::move(reach)));
}

}  // namespace hostler::bin
