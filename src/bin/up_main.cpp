#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "adapters/docker/registries.h"
#include "adapters/net/digest.h"
#include "bin/arguments.h"
#include "bin/cluster_saves.h"
#include "bin/drivers.h"
#include "bin/roles.h"
#include "bin/up.h"
#include "core/log.h"
#include "domain/network/reach.h"

namespace hostler::bin {

namespace {

// Containers and networks are root's to make.
[[noreturn]] void become_root(int argc, const char* const* argv) {
    fmt::print(stderr, "hostler up makes containers and networks and needs root for it: asking sudo.\n");
    static const std::string self = program_folder() / "hostler";
    std::vector<const char*> words{"sudo", "--preserve-env=HOME,PATH", self.c_str(), "up"};
    for (int i = 1; i < argc; ++i) words.push_back(argv[i]);
    words.push_back(nullptr);
    ::execvp("sudo", const_cast<char* const*>(words.data()));
    fmt::print(stderr, "sudo is not available; run this as root, or with --engine sim.\n");
    std::_Exit(1);
}

// What a master or an agent would refuse is refused before anything is started. Errors: invalid, with the
// option.
Result<> finish(UpSettings& settings, const std::string& simulate) {
    TRY(parse_tenant_reach(settings.tenant_reach));
    TRY(docker::parse_registries(settings.registries, settings.registries_only));
    master::Settings tried;
    TRY(settings.run.put_into(tried));
    TRY(settings.series.put_into(tried));
    settings.cluster_saves = TRY(saves_folder(settings.cluster_saves, settings.clusters));
    if (!settings.drivers.empty()) {
        TRY(load_drivers({}, settings.drivers, net::OpenSslDigest{}));
        settings.drivers = std::filesystem::absolute(settings.drivers);
    }
    if (settings.tls && settings.domain && !settings.domain->empty() && !settings.domain->contains('.'))
        return fail(Code::invalid,
                    fmt::format("--domain {0}: with --tls it needs two labels, as hostler.{0}: clients take "
                                "no certificate for *.{0}",
                                *settings.domain));
    if (!simulate.empty()) settings.simulate = TRY(parse_simulated_estate(simulate));
    if (!settings.prepare.empty() && !settings.demo)
        return fail(Code::invalid, "--prepare is for the hosts of the demo's stock: give --demo too");
    if (settings.masters > 1 && settings.store.empty())
        return fail(Code::invalid,
                    fmt::format("{} masters need a store that they share: --store "
                                "postgresql://USER@HOST/DATABASE. The file store.db is one master's alone",
                                settings.masters));
    return {};
}

}  // namespace

int up_main(int argc, const char* const* argv) {
    CLI::App app{
        "Run a whole cloud on this machine: master, two zones with an access point each, a gateway, hosts.",
        "hostler up"};
    UpSettings settings;
    std::string data = "hostler-data", simulate;
    app.add_option("--data", data, "Folder of all that is kept")->capture_default_str();
    app.add_option(
        "--listen", settings.listen,
        "ADDR:PORT of the API; port 0 picks one; gateway and access points take other ports of ADDR, so "
        "that hosts of other machines can join there");
    app.add_option(
        "--simulate", simulate,
        "Hosts that do not exist, as hosts=2,gpus=8,model=\"H100 SXM5 80GB\"[,cpus=64,memory=1Ti]");
    app.add_option("--engine", settings.engine, "Container engine: auto, docker:SOCKET or sim")
        ->capture_default_str();
    app.add_flag("--no-user-namespaces", settings.no_user_namespaces,
                 "Root of an instance is root of this machine, for images that bear nothing else");
    app.add_flag("--programs", settings.programs,
                 "Jobs of tenants that may do so run programs without containers, which read files of this "
                 "machine (docs/operate/programs.md)");
    app.add_option("--program-network", settings.program_network,
                   "As of hostler-agent run: none, or host for the network of this machine")
        ->check(CLI::IsMember({"none", "host"}));
    app.add_flag("--clusters", settings.clusters,
                 "Clusters may have its hosts: their agents do steps of drivers as root of this machine "
                 "(docs/operate/clusters.md); with --engine sim they do nothing");
    app.add_option("--cluster-saves", settings.cluster_saves,
                   "As of hostler-agent run: folder for saves of clusters; with --clusters");
    app.add_option("--drivers", settings.drivers,
                   "As of hostler master and hostler-agent run: folder with more drivers of clusters");
    app.add_option(
        "--domain", settings.domain,
        "Instances are names below it; empty: each of their ports has a port of the gateway; without it "
        "localhost, or empty where --listen is an address that others reach");
    app.add_flag("--tls", settings.tls,
                 "API and gateway speak TLS, with a certificate that an authority in --data signs (ca.pem); "
                 "instances are names below hostler.localhost where --domain does not say otherwise");
    app.add_option("--ready-file", settings.ready_file, "Is written once everything answers");
    app.add_option("--metrics", settings.metrics,
                   "Where the first master's metrics are read, HOST:PORT; empty: nowhere");
    app.add_option("--remote-write", settings.remote_write,
                   "As of hostler master: where samples are sent, too");
    settings.run.add_to(app);
    settings.series.add_to(app);
    app.add_option(
        "--network-pool", settings.network_pool,
        "Addresses of instances, as 10.220.0.0/16; else a range that this machine has no route to is "
        "chosen once");
    app.add_option("--tenant-reach", settings.tenant_reach,
                   "Private networks of yours that tenants may reach, as 10.20.0.0/16,192.168.7.9; else "
                   "they reach public addresses alone, and none of this machine's networks")
        ->delimiter(',');
    app.add_option(
           "--registries", settings.registries,
           "HOST[:PORT] of registries of yours that images may come from although their addresses are "
           "not public, as registry.lan:5000")
        ->delimiter(',');
    app.add_flag("--registries-only", settings.registries_only,
                 "Images come from --registries alone, and from no public registry");
    app.add_option("--masters", settings.masters, "Masters, of which one leads at a time; they need --store")
        ->check(CLI::Range(1, 9))
        ->capture_default_str();
    app.add_option(
           "--store", settings.store,
           "postgresql://USER@HOST/DATABASE, where the masters keep what they know; else a file in --data")
        ->envname("HOSTLER_STORE");
    app.add_flag(
        "--new-store", settings.new_store,
        "Begin a new, empty cloud in an empty store although this folder has already served another");
    app.add_option("--lease", settings.lease_s, "Seconds of leadership, as of hostler master");
    app.add_flag("--demo", settings.demo, "Make stock and start an instance from it");
    app.add_option("--prepare", settings.prepare,
                   "Templates with images that the hosts of the demo's stock make in the background, as "
                   "jupyter,shell")
        ->delimiter(',');
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    if (const auto fit = finish(settings, simulate); !fit) return wrong_usage(app, fit.error().message);
    if (settings.engine != "sim" && ::geteuid() != 0) become_root(argc, argv);
    if (const auto made = make_own_folder(data); !made) {
        fmt::print(stderr, "{}\n", made.error().message);
        return 1;
    }
    settings.data = std::filesystem::absolute(data);
    set_log_name("up");
    Process process;
    Up up{process, std::move(settings)};
    return run_until_signalled(process, up.run());
}

}  // namespace hostler::bin
