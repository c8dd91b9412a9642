#include <CLI/CLI.hpp>

#include "adapters/curl/outgoing.h"
#include "adapters/jose/verifier.h"
#include "adapters/net/authority.h"
#include "adapters/net/digest.h"
#include "adapters/net/issued.h"
#include "adapters/postgres/store.h"
#include "adapters/series/store.h"
#include "adapters/sodium/passwords.h"
#include "adapters/sodium/sealer.h"
#include "adapters/sqlite/store.h"
#include "bin/arguments.h"
#include "bin/cloud_mark.h"
#include "bin/console_files.h"
#include "bin/drivers.h"
#include "bin/master_options.h"
#include "bin/metrics.h"
#include "bin/operator_key.h"
#include "bin/process.h"
#include "bin/ready_file.h"
#include "bin/roles.h"
#include "bin/templates.h"
#include "core/log.h"
#include "core/worker.h"
#include "roles/master/server/master.h"

namespace hostler::bin {

namespace {

namespace fs = std::filesystem;

Task<> run(Process& process, MasterOptions options) {
    const fs::path& data = options.data;
    master::Settings& settings = options.settings;
    CO_TRY(make_own_folder(data));
    if (!options.templates.empty()) settings.templates = CO_TRY(read_templates(options.templates));
    for (const auto& [name, known] :
         CO_TRY(load_drivers(embedded_drivers(), options.drivers, net::OpenSslDigest{}))) {
        settings.drivers.push_back(known.driver);
        settings.driver_digests[name] = known.digest;
    }
    const fs::path authority_folder = options.authority.empty() ? data / "authority" : options.authority;
    CO_TRY(issue_credentials(process, authority_folder, data, "master", settings.name));
    const auto authority =
        CO_TRY(net::open_authority(authority_folder, *process.random, process.timers->wall()));
    const net::FolderOfIssuedKeys issued{authority_folder};
    const auto sealer = CO_TRY(sodium::open_sealer(authority_folder / sealing_keys_file));
    const auto worker = make_worker(process.loop, "store");
    const auto lease_worker = make_worker(process.loop, "lease");
    const auto cloud = CO_TRY(read_cloud_mark(authority_folder, *process.random));
    cloud->begin = options.new_store;
    const auto store = CO_TRY(options.store.empty()
                                  ? open_sqlite(data / "store.db", *worker, {.cloud = cloud})
                                  : open_postgres(options.store, *worker, *lease_worker, {.cloud = cloud}));
    keep_cloud_mark(authority_folder, *cloud);
    const auto series_worker = make_worker(process.loop, "series");
    const auto query_worker = make_worker(process.loop, "queries");
    CO_TRY(make_own_folder(data / "series"));
    const auto series = CO_TRY(series::open_store(*series_worker, *query_worker, data / "series", {},
                                                  new_id(*process.random, "series", 20)));
    const auto check_worker = make_worker(process.loop, "challenges");
    const auto passwords = sodium::make_passwords(process.loop);
    const auto outgoing = curl::make_outgoing(process.loop, *process.timers, options.reach);
    const auto remote_write =
        CO_TRY(RemoteWrite::open(process, *outgoing, data, options.remote_write, *series));
    const jose::JoseVerifier tokens;
    net::OpenSslDigest digest;
    const std::string operator_key = CO_TRY(read_operator_key(data));
    tell_of_another_key(data, operator_key, digest);
    if (!operator_key.empty()) settings.operator_key_hash = digest.sha256(operator_key);
    const auto keys = net::make_keys();
    Certified own{CO_TRY(load_credentials(data)), *keys, keep_certificate(data)};
    TlsListener tls = CO_TRY(TlsListener::open(options.tls, process));
    http::Arrival arrival = tls.arrival();
    arrival.proxies = options.proxies;
    master::Master role{std::move(settings),
                        {process.loop, *process.timers, *process.net, *process.random, *store, *authority,
                         digest, own, remote_write->store(), *outgoing, *sealer, *passwords, &issued,
                         check_worker.get(), series.get(), std::move(arrival), &tokens, console_files()}};
    process.leave = [&role, drain = options.drain] { return role.leave(drain); };
    TaskGroup group{process.loop};
    MetricsServer shown{process, options.metrics};
    MetricsServer::Pages pages;
    pages["/metrics/gpus"] = [&role](MetricsPage& page, const std::string& zone) {
        return role.write_gpu_metrics(page, zone);
    };
    const auto write_metrics = [&role, &tls, &sent = *remote_write](MetricsPage& page) {
        role.write_metrics(page);
        tls.write_metrics(page, "hostler_master");
        sent.write_metrics(page);
    };
    CO_TRY(co_await shown.start(group, write_metrics, std::move(pages)));
    remote_write->start(group);
    tls.start(group);
    group.start("ready", tell_when_ready(role, options.ready_file, [&] {
                    return shown.with({{"api", role.api_address()}, {"wire", role.wire_address()}});
                }));
    const auto ended = co_await role.run();
    co_await group.close();
    co_await shown.stop();
    co_return ended;
}

}  // namespace

int master_main(int argc, const char* const* argv) {
    CLI::App app{"Run a master: it registers hosts, decides, and answers the API.", "hostler master"};
    MasterOptions options;
    options.add_to(app);
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    if (const auto finished = options.finish(); !finished) return wrong_usage(app, finished.error().message);
    set_log_name("master");
    const master::Settings& settings = options.settings;
    const bool everywhere =
        settings.wire_address.starts_with("0.0.0.0:") || settings.wire_address.starts_with("[::]:");
    if (!options.store.empty() && everywhere && settings.advertise.empty())
        log_warn("other masters cannot learn the address of this one: --advertise says how they reach {}",
                 settings.wire_address);
    Process process;
    return run_until_signalled(process, run(process, std::move(options)));
}

}  // namespace hostler::bin
