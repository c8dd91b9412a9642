// `hostler up`: a whole cloud on one machine, every role and every host a process of its own, over the same
// sockets and certificates as a large one.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <boost/json.hpp>

#include "bin/containers.h"
#include "bin/ready_file.h"
#include "bin/run_options.h"
#include "bin/series_options.h"
#include "bin/simulation.h"
#include "bin/supervisor.h"
#include "bin/up_tls.h"
#include "http/client.h"

namespace hostler::bin {

struct UpSettings {
    std::filesystem::path data;
    std::string listen;                         // "127.0.0.1:7480"; empty: as last time, else that.
    std::optional<SimulatedEstate> simulate{};  // Not given: only where the machine has no GPU.
    std::string engine = "auto";                // auto | docker:SOCKET | sim
    // Empty: instances get a gateway port each. Unset: that where others reach the cloud, else "localhost".
    std::optional<std::string> domain{};
    std::string ready_file;
    bool demo = false;                   // Make stock, start an instance, say where it answers.
    std::vector<std::string> prepare{};  // Templates whose images the demo's hosts make meanwhile.
    std::string metrics;                 // As --metrics of the first master.
    std::string remote_write;            // As --remote-write of each of them.
    // As of each of them, but on one machine there is no reason to be slow.
    RunOptions run{.report_s = 1, .unreachable_s = 10, .lost_s = 60};
    SeriesOptions series;
    bool no_user_namespaces = false;          // As --no-user-namespaces of the agents.
    bool programs = false;                    // As --programs of the agents,
    std::string program_network;              // and --program-network; empty: as there.
    bool clusters = false;                    // As --clusters of the agents.
    std::string cluster_saves;                // As --cluster-saves of the agents.
    std::string drivers;                      // As --drivers of masters and agents.
    std::string network_pool;                 // Empty: one that nothing here uses, chosen once.
    std::vector<std::string> tenant_reach{};  // As --tenant-reach of the agents,
    std::vector<std::string> registries{};    // --registries
    bool registries_only = false;             // and --registries-only.
    int masters = 1;                          // More than one need a store that they share.
    std::string store;                        // As --store of the masters.
    bool new_store = false;                   // As --new-store of the masters.
    std::optional<double> lease_s{};          // As --lease of the masters.
    bool tls = false;                         // API and gateway speak TLS, by an authority of its own.
};

struct ZonePlan {
    const char* name;
    const char* place;
};
inline constexpr ZonePlan zones[] = {{"nj", "New Jersey, US"}, {"lon", "London, UK"}};

class Up {
public:
    Up(Process& process, UpSettings settings);
    Task<> run();

private:
    using Json = boost::json::value;
    struct HostPlan {
        std::string name;
        std::string zone;
        std::vector<std::string> arguments;
        std::map<std::string, std::string> environment;
    };

    Task<> start();
    Task<> start_engine();
    Task<> stop();
    Task<> end_supervisors();
    Task<> import_demo_image();
    Task<> start_roles();
    Task<> start_masters(const std::string& listen);
    Task<std::string> listening_host(std::string listen);
    std::vector<std::string> api_urls() const;
    http::Endpoint api_endpoint(const std::string& address) const;
    // Certificate and authority, made where they are missing or end soon. Errors: those of keep_up_tls().
    Result<> keep_tls();
    Task<> renew_tls();
    void add_tls(std::vector<std::string>& command) const;
    Task<> start_hosts();
    void add_programs(std::vector<std::string>& command, std::uint32_t host) const;
    Task<> wait_until_hosts_report();
    Task<> start_demo();
    Task<std::string> wait_for_demo(std::string name);
    void greet(const std::string& demo_url, const std::string& console_url) const;
    Task<> prepare_images();  // Ends once they are on all of the hosts.
    Task<Json> ask_for_images();

    // A role keeps the addresses that it was given at first, also when it is started again.
    Task<Addresses> keep_role(std::string name, std::vector<std::string> command,
                              std::map<std::string, std::string> listens,
                              std::map<std::string, std::string> environment = {});
    Result<std::vector<HostPlan>> plan_hosts();
    // Errors: those of the API.
    Task<Json> call(std::string method, std::string path, Json body = nullptr);

    Process& process_;
    UpSettings settings_;
    std::filesystem::path programs_;
    Supervisor engine_keeper_;  // Of an engine of our own: it outlives everything else.
    Supervisor supervisor_;
    std::unique_ptr<Containers> containers_;
    std::vector<std::string> host_ids_;
    http::Client client_;
    std::string engine_;  // As --engine of the agents.
    std::string table_;   // As --firewall-table of them.
    std::string operator_key_;
    std::vector<Addresses> masters_;
    Addresses gateway_;
    std::map<std::string, Addresses> access_;  // By zone.
    bool simulated_ = false;
    bool open_to_all_ = false;  // No device stands for them that a container must be given.
    // With TLS:
    UpTlsFiles tls_files_;
    ServerNames tls_names_;
    std::shared_ptr<const Credentials> tls_believed_;
};

}  // namespace hostler::bin
