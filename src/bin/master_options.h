// The options of `hostler master`, and what they come to.
#pragma once

#include <chrono>
#include <filesystem>

#include "adapters/curl/reach.h"
#include "bin/proxy_options.h"
#include "bin/remote_write.h"
#include "bin/run_options.h"
#include "bin/series_options.h"
#include "bin/tls_options.h"
#include "roles/master/state/settings.h"

namespace hostler::bin {

struct MasterOptions {
    std::filesystem::path data;
    std::string store;                // Empty: store.db in `data`.
    bool new_store = false;           // An empty store is to be a new cloud, though the authority served one.
    std::filesystem::path authority;  // Empty: authority in `data`.
    std::filesystem::path templates;  // Empty: none.
    std::filesystem::path drivers;    // More of them; empty: none.
    std::string metrics;
    std::string ready_file;
    TlsOptions tls;
    std::shared_ptr<const http::TrustedProxies> proxies;
    RemoteWriteOptions remote_write;
    master::Settings settings;
    // By finish():
    Duration drain{};
    curl::ReachPolicy reach;

    void add_to(CLI::App& app);
    // To be called once the arguments are read. Errors: invalid, with the option.
    Result<> finish();

private:
    void add_places(CLI::App& app);
    void add_leadership(CLI::App& app);
    void add_times(CLI::App& app);
    void add_admission(CLI::App& app);
    void add_people(CLI::App& app);
    void add_mail(CLI::App& app);
    Result<> read_reach();
    Result<> read_mail();
    void read_zones();
    void read_times();

    ProxyOptions proxies_;
    RunOptions run_;
    SeriesOptions series_;
    std::vector<std::string> zones_, alert_reach_;
    std::string admission_ = "standard", mail_password_;
    double lease_s_ = 0, drain_s_ = 5, challenge_h_ = 24, network_h_ = 12, hsts_s_ = 0;
    double session_life_h_ = 0, session_idle_h_ = 0;
};

}  // namespace hostler::bin
