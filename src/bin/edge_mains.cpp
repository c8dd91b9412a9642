// The roles at the edge: access point and gateway.
#include <CLI/CLI.hpp>

#include "adapters/disk/journal.h"
#include "adapters/net/authority.h"
#include "adapters/net/digest.h"
#include "bin/arguments.h"
#include "bin/metrics.h"
#include "bin/process.h"
#include "bin/proxy_options.h"
#include "bin/ready_file.h"
#include "bin/roles.h"
#include "bin/tls_options.h"
#include "core/log.h"
#include "core/version.h"
#include "core/worker.h"
#include "roles/access/access.h"
#include "roles/gateway/gateway.h"

namespace hostler::bin {

namespace {

namespace fs = std::filesystem;

// Runs a role that remembers a little and has credentials in the same folder.
template <class Role, class Settings, class Ports>
Task<> run(Process& process, fs::path data, Settings settings, std::string metrics, double drain_s,
           std::string ready_file, TlsOptions with_tls, std::shared_ptr<const http::TrustedProxies> proxies,
           std::function<Addresses(Role&)> addresses) {
    CO_TRY(make_own_folder(data));
    const auto keys = net::make_keys();
    Certified own{CO_TRY(load_credentials(data)), *keys, keep_certificate(data)};
    const auto worker = make_worker(process.loop, "journal");
    const auto journal = CO_TRY(disk::open_journal(*worker, data / "journal"));
    [[maybe_unused]] const net::OpenSslDigest digest;
    TlsListener tls = CO_TRY(TlsListener::open(with_tls, process));
    http::Arrival arrival = tls.arrival();
    arrival.proxies = std::move(proxies);
    const auto ports = [&] {
        if constexpr (requires(Ports any) { any.digest; })
            return Ports{process.loop,      *process.timers, *process.net, *process.random,
                         *journal,          digest,          own,          std::string{version},
                         std::move(arrival)};
        else
            return Ports{process.loop, *process.timers,     *process.net, *process.random, *journal,
                         own,          std::string{version}};
    };
    Role role{std::move(settings), ports()};
    process.leave = [&role, drain_s] {
        return role.leave(std::chrono::duration_cast<Duration>(std::chrono::duration<double>{drain_s}));
    };
    TaskGroup group{process.loop};
    MetricsServer shown{process, std::move(metrics)};
    CO_TRY(co_await shown.start(group, [&role, &tls](MetricsPage& page) {
        role.write_metrics(page);
        tls.write_metrics(page, "hostler_gateway");
    }));
    tls.start(group);
    group.start("ready",
                tell_when_ready(role, std::move(ready_file), [&] { return shown.with(addresses(role)); }));
    const auto ended = co_await role.run();
    co_await group.close();
    co_await shown.stop();
    co_return ended;
}

}  // namespace

int access_main(int argc, const char* const* argv) {
    CLI::App app{"Run an access point: the entry of a zone for hosts, and the way in to them.",
                 "hostler access"};
    access::Settings settings;
    std::string data, metrics, ready_file;
    double drain_s = 5;
    app.add_option("--data", data, "Folder of its credentials and of what it remembers")->required();
    app.add_option("--zone", settings.zone, "Where it stands")->required();
    app.add_option("--master", settings.masters, "Where a master takes links, HOST:PORT")
        ->required()
        ->delimiter(',');
    app.add_option("--uplink", settings.uplink_listen, "Where hosts dial")->capture_default_str();
    app.add_option("--tunnel", settings.tunnel_listen, "Where tunnels meet")->capture_default_str();
    app.add_option("--control", settings.control_listen, "Where gateways ask for tunnels")
        ->capture_default_str();
    app.add_option("--uplink-address", settings.uplink_address, "--uplink as hosts reach it");
    app.add_option("--tunnel-address", settings.tunnel_address, "--tunnel as hosts and gateways reach it");
    app.add_option("--control-address", settings.control_address, "--control as gateways reach it");
    app.add_option("--drain", drain_s, "Seconds that what is open has to end, on SIGTERM")
        ->check(CLI::Range(0.0, 86'400.0))
        ->capture_default_str();
    app.add_option("--metrics", metrics, "Where metrics are read, HOST:PORT; empty: nowhere");
    app.add_option("--ready-file", ready_file, "Is written once it answers");
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    set_log_name("access " + settings.zone);
    Process process;
    return run_until_signalled(process, run<access::Access, access::Settings, access::Ports>(
                                            process, data, settings, metrics, drain_s, ready_file, {},
                                            nullptr, [](access::Access& role) {
                                                return Addresses{{"uplink", role.addresses().uplink},
                                                                 {"tunnel", role.addresses().tunnel},
                                                                 {"control", role.addresses().control}};
                                            }));
}

int gateway_main(int argc, const char* const* argv) {
    CLI::App app{"Run a gateway: the public way in to instances.", "hostler gateway"};
    gateway::Settings settings;
    TlsOptions tls;
    ProxyOptions with_proxies;
    std::string data, metrics, ready_file;
    double drain_s = 5;
    app.add_option("--data", data, "Folder of its credentials and of what it remembers")->required();
    app.add_option("--master", settings.masters, "Where a master takes links, HOST:PORT")
        ->required()
        ->delimiter(',');
    app.add_option("--listen", settings.listen, "Where browsers and programs connect")->capture_default_str();
    app.add_option("--domain", settings.domain,
                   "Instances are names below it; empty: each port has one of the gateway's")
        ->capture_default_str();
    app.add_option("--outage-trust", settings.outage_trust_s,
                   "Seconds for which keys that were good are believed while no master answers")
        ->capture_default_str();
    app.add_option("--address", settings.address, "Its URL from outside; empty: as it listens");
    tls.add_to(app);
    with_proxies.add_to(app);
    app.add_option("--hsts", settings.hsts_s,
                   "With TLS: seconds for which browsers keep to https (HSTS); 0: HSTS is off")
        ->check(CLI::Range(0, 63'072'000))
        ->capture_default_str();
    app.add_option("--drain", drain_s, "Seconds that what is open has to end, on SIGTERM")
        ->check(CLI::Range(0.0, 86'400.0))
        ->capture_default_str();
    app.add_option("--metrics", metrics, "Where metrics are read, HOST:PORT; empty: nowhere");
    app.add_option("--ready-file", ready_file, "Is written once it answers");
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    if (const auto fit = tls.check("--address", settings.address); !fit)
        return wrong_usage(app, fit.error().message);
    const auto proxies = with_proxies.read();
    if (!proxies) return wrong_usage(app, proxies.error().message);
    set_log_name("gateway");
    Process process;
    return run_until_signalled(
        process,
        run<gateway::Gateway, gateway::Settings, gateway::Ports>(
            process, data, settings, metrics, drain_s, ready_file, tls, *proxies, [](gateway::Gateway& role) {
                return Addresses{{"url", role.url()}, {"address", role.address()}};
            }));
}

}  // namespace hostler::bin
