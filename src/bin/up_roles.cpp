// The roles of `hostler up`: their processes, and the addresses that they keep.
#include "adapters/docker/routes.h"
#include "adapters/sqlite/store.h"
#include "bin/cloud_mark.h"
#include "bin/operator_key.h"
#include "bin/up.h"
#include "core/log.h"
#include "domain/network/free_pools.h"

namespace hostler::bin {

namespace fs = std::filesystem;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* default_listen = "127.0.0.1:7480";
// Clients take no certificate for *.localhost: a star that stands for all names of a top-level domain.
constexpr const char* tls_domain = "hostler.localhost";

// Clouds that share a machine had better not share addresses: each takes one of several ranges that nothing
// here uses, and keeps it. A cloud that is stopped is not seen, so which one is left to chance.
Result<std::string> network_pool(const fs::path& kept, Random& random) {
    if (std::string pool = read_file(kept); !pool.empty()) return pool;
    std::vector<Ipv4Subnet> used;
    for (const auto& route : TRY(docker::ipv4_routes())) used.push_back(route.to);
    const auto pools = free_pools(used);
    if (pools.empty())
        return fail(
            Code::conflict,
            "this machine has routes to every range that instances' addresses are chosen from; name a "
            "free one: --network-pool 10.220.0.0/16");
    const std::string pool = to_text(pools[random_number(random) % pools.size()]);
    TRY(write_file(kept, pool));
    return pool;
}

std::string host_of(std::string_view address) { return std::string{address.substr(0, address.rfind(':'))}; }

// An address by which other machines reach this one.
bool is_real(std::string_view host) {
    return !host.starts_with("127.") && host != "[::1]" && host != "localhost" && host != "0.0.0.0" &&
           host != "[::]";
}

// Of gateway and API, whose address is `host`.
ServerNames names_of(std::string host, std::string domain) {
    for (char& c : domain) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    ServerNames names{.dns = {"localhost"}, .addresses = {"127.0.0.1", "::1"}};
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    if (std::ranges::count(names.addresses, host) == 0) names.addresses.push_back(host);
    if (!domain.empty() && domain != "localhost") names.dns.insert(names.dns.end(), {domain, "*." + domain});
    return names;
}

}  // namespace

Task<Addresses> Up::keep_role(std::string name, std::vector<std::string> command,
                              std::map<std::string, std::string> listens,
                              std::map<std::string, std::string> environment) {
    const fs::path folder = settings_.data / name;
    CO_TRY(make_own_folder(folder));
    const std::string ready = folder / "ready.json";
    const std::string kept = folder / "addresses.json";
    fs::remove(ready);
    for (auto& [flag, address] : listens)
        if (const auto before = read_ready_file(kept); before && before->contains(flag))
            // Another --listen moves what listens, and its port is kept.
            address = settings_.listen.empty()
                          ? before->at(flag)
                          : host_of(address) + before->at(flag).substr(before->at(flag).rfind(':'));
    command.insert(command.end(), {"--data", folder, "--ready-file", ready});
    auto now = std::make_shared<std::map<std::string, std::string>>(listens);
    supervisor_.keep({.name = name,
                      .command = std::move(command),
                      .environment = std::move(environment),
                      .more_arguments = [now] {
                          std::vector<std::string> arguments;
                          for (const auto& [flag, address] : *now)
                              arguments.insert(arguments.end(), {"--" + flag, address});
                          return arguments;
                      }});
    for (Duration waited{}; waited < seconds{30}; waited += milliseconds{20}) {
        if (const auto addresses = read_ready_file(ready)) {
            for (auto& [flag, address] : *now)
                if (const auto at = addresses->find(flag == "listen" ? "address" : flag);
                    at != addresses->end())
                    address = at->second;
            CO_TRY(write_ready_file(kept, *now));
            co_return *addresses;
        }
        CO_TRY(co_await sleep(*process_.timers, milliseconds{20}));
    }
    co_return fail(Code::timeout, fmt::format("{} did not get ready; see {}", name,
                                              (supervisor_.log_folder() / (name + ".log")).string()));
}

std::vector<std::string> Up::api_urls() const {
    std::vector<std::string> urls;
    const std::string_view scheme = settings_.tls ? "https" : "http";
    for (const Addresses& master : masters_) urls.push_back(fmt::format("{}://{}", scheme, master.at("api")));
    return urls;
}

http::Endpoint Up::api_endpoint(const std::string& address) const {
    http::Endpoint endpoint{address};
    if (settings_.tls)
        endpoint.secure = Secure{.own = tls_believed_, .expect = "https://" + host_of(address)};
    return endpoint;
}

// ── TLS

Result<> Up::keep_tls() {
    const bool fresh = TRY(keep_up_tls(tls_files_, tls_names_, *process_.random, process_.timers->wall()));
    if (fresh) log_info("{} is a new authority: clients are to believe it", tls_files_.authority.string());
    tls_believed_ = std::make_shared<const Credentials>(
        Credentials{.certificate = {}, .key = {}, .authority = read_file(tls_files_.authority)});
    return {};
}

// The roles take the new one by themselves.
Task<> Up::renew_tls() {
    while (true) {
        CO_TRY(co_await sleep(*process_.timers, std::chrono::hours{1}));
        if (const auto kept = keep_tls(); !kept) log_error("the certificate: {}", kept.error().message);
    }
}

void Up::add_tls(std::vector<std::string>& command) const {
    if (settings_.tls)
        command.insert(command.end(), {"--tls-cert", tls_files_.certificate, "--tls-key", tls_files_.key});
}

// The first has the API's well-known address; all have the first one's authority.
Task<> Up::start_masters(const std::string& listen) {
    if (settings_.store.empty() && !settings_.new_store) {
        // Said here at once; a master would say it in its log only.
        const fs::path master = settings_.data / "master";
        const auto cloud = CO_TRY(read_cloud_mark(master / "authority", *process_.random));
        CO_TRY(check_sqlite_is_there(master / "store.db", *cloud));
    }
    std::vector<std::string> command{programs_ / "hostler", "master"};
    for (const auto& words : {settings_.run.arguments(), settings_.series.arguments()})
        command.insert(command.end(), words.begin(), words.end());
    std::string pool = settings_.network_pool;
    if (pool.empty()) pool = CO_TRY(network_pool(settings_.data / "network-pool", *process_.random));
    command.insert(command.end(), {"--network-pool", std::move(pool)});
    if (!settings_.remote_write.empty())
        command.insert(command.end(), {"--remote-write", settings_.remote_write});
    if (!settings_.drivers.empty()) command.insert(command.end(), {"--drivers", settings_.drivers});
    if (settings_.new_store) command.push_back("--new-store");
    if (settings_.lease_s) command.insert(command.end(), {"--lease", fmt::format("{}", *settings_.lease_s)});
    for (const ZonePlan& zone : zones)
        command.insert(command.end(), {"--zone", fmt::format("{}:{}", zone.name, zone.place)});
    // An address that was asked for now counts more than the one of the last time.
    // Either way a master that is started again keeps the port that was picked.
    if (auto kept = read_ready_file(settings_.data / "master/addresses.json")) {
        if (!settings_.listen.empty()) kept->erase("api");
        kept->erase("metrics");
        CO_TRY(write_ready_file(settings_.data / "master/addresses.json", *kept));
    }
    std::map<std::string, std::string> environment;  // A password in it is not for everybody to see.
    if (!settings_.store.empty()) environment["HOSTLER_STORE"] = settings_.store;
    for (int i = 1; i <= settings_.masters; ++i) {
        const std::string name = i == 1 ? "master" : fmt::format("master-{}", i);
        CO_TRY(make_own_folder(settings_.data / name));
        CO_TRY(write_file(settings_.data / name / operator_key_file, operator_key_));
        auto its = command;
        add_tls(its);
        its.insert(its.end(), {"--name", name, "--authority", settings_.data / "master/authority"});
        std::map<std::string, std::string> listens{{"wire", "127.0.0.1:0"},
                                                   {"api", i == 1 ? listen : host_of(listen) + ":0"}};
        if (i == 1 && !settings_.metrics.empty()) listens["metrics"] = settings_.metrics;
        masters_.push_back(CO_TRY(co_await keep_role(name, std::move(its), std::move(listens), environment)));
    }
    co_return Result<>{};
}

// The address that the API will have, which its certificate is to name.
Task<std::string> Up::listening_host(std::string listen) {
    if (settings_.listen.empty())
        if (const auto kept = read_ready_file(settings_.data / "master/addresses.json");
            kept && kept->contains("api"))
            listen = kept->at("api");
    const auto tried = CO_TRY(co_await process_.net->listen(host_of(listen) + ":0"));
    co_return host_of(tried->address());
}

Task<> Up::start_roles() {
    const std::string hostler = programs_ / "hostler";
    const std::string listen = settings_.listen.empty() ? default_listen : settings_.listen;
    const fs::path authority = settings_.data / "master/authority";
    // As last time where nothing is asked for. Hosts of other machines join where the address is a real one.
    const std::string host = CO_TRY(co_await listening_host(listen));
    const std::string domain = settings_.domain.value_or(is_real(host)   ? ""
                                                         : settings_.tls ? tls_domain
                                                                         : "localhost");
    if (settings_.tls) {
        tls_names_ = names_of(host, domain);
        CO_TRY(keep_tls());
    }
    CO_TRY(co_await start_masters(listen));
    const std::string uplinks = (is_real(host) ? host : "127.0.0.1") + ":0";
    std::string masters;
    for (const Addresses& master : masters_) masters += (masters.empty() ? "" : ",") + master.at("wire");
    for (const ZonePlan& zone : zones) {
        const std::string name = fmt::format("access-{}", zone.name);
        CO_TRY(issue_credentials(process_, authority, settings_.data / name, "access",
                                 fmt::format("{}-1", zone.name)));
        access_[zone.name] = CO_TRY(
            co_await keep_role(name, {hostler, "access", "--zone", zone.name, "--master", masters},
                               {{"uplink", uplinks}, {"tunnel", uplinks}, {"control", "127.0.0.1:0"}}));
    }
    CO_TRY(issue_credentials(process_, authority, settings_.data / "gateway", "gateway", "gateway-1"));
    std::vector<std::string> command{hostler, "gateway", "--master", masters, "--domain", domain};
    add_tls(command);
    gateway_ = CO_TRY(co_await keep_role("gateway", std::move(command), {{"listen", host + ":0"}}));
    co_return Result<>{};
}

}  // namespace hostler::bin
