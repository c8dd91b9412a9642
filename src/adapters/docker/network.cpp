#include "adapters/docker/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "adapters/docker/process.h"
#include "core/percent.h"

namespace hostler::docker {

namespace {

std::string network_path(std::string_view id) { return "/networks/" + percent_encode(id); }
// For a network in the API of Docker podman looks at every container of the machine; in its own it does not.
std::string look_path(std::string_view id, Dialect dialect) {
    return dialect == Dialect::podman ? "/libpod" + network_path(id) + "/json" : network_path(id);
}

// An engine that was killed while it made or removed a container leaves the network's bridge, with one end of
// a cable in it. It would hold the addresses for ever.
Result<> remove_left_bridge(const std::string& bridge) {
    namespace fs = std::filesystem;
    const fs::path there = fs::path{"/sys/class/net"} / bridge;
    std::error_code error;
    std::vector<std::string> links;
    for (fs::directory_iterator at{there / "brif", error}, end; !error && at != end; at.increment(error))
        links.push_back(at->path().filename());
    links.push_back(bridge);
    for (const std::string& link : links) {
        if (!fs::exists(there, error)) return {};
        const auto done =
            TRY(run_process({"ip", "link", "delete", "dev", link}, {}, std::chrono::seconds{10}));
        if (done.exit_code != 0 && fs::exists(there.parent_path() / link, error))
            return fail(Code::unavailable, fmt::format("link {} cannot be removed: {}", link, done.output));
    }
    return {};
}

}  // namespace

DockerNetwork::DockerNetwork(Net& net, Timers& timers, Worker& worker, NetworkSettings settings)
    : worker_(worker),
      settings_(std::move(settings)),
      api_(net, timers, settings_.socket),
      wall_(std::make_shared<Wall>(settings_.wall)) {}

Task<std::optional<SeenNetwork>> DockerNetwork::inspect(std::string id) {
    const auto path = look_path(id, CO_TRY(co_await dialect()));
    const auto answer = CO_TRY(co_await api_.call("GET", path, settings_.call_time));
    if (answer.status == 404) co_return std::nullopt;
    if (!answer.success())
        co_return fail(Code::unavailable,
                       fmt::format("cannot look at network {}: {}", id, error_text(answer.body)));
    co_return CO_TRY(parse_network(answer.body));
}

Task<Dialect> DockerNetwork::dialect() {
    if (dialect_) co_return *dialect_;
    const auto version = CO_TRY(co_await api_.call("GET", "/version", settings_.call_time));
    co_return dialect_.emplace(CO_TRY(parse_traits(version.body, "{}")).dialect);
}

Task<> DockerNetwork::guard(std::string id) {
    co_return co_await run_on<void>(
        worker_, [wall = wall_, bridge = bridge_name(id)] { return wall->put_up(bridge); });
}

Task<> DockerNetwork::unguard(std::string id) {
    co_return co_await run_on<void>(
        worker_, [wall = wall_, bridge = bridge_name(id)] { return wall->take_down(bridge); });
}

Task<> DockerNetwork::guard_all() {
    for (const std::string& id : CO_TRY(co_await list()))
        CO_TRY(co_await run_on<void>(worker_, [wall = wall_, bridge = bridge_name(id)]() -> Result<> {
            TRY(wall->put_up(bridge));
            return wall->leave_former_table(bridge);
        }));
    co_return Result<>{};
}

Task<> DockerNetwork::refresh_walls() {
    co_return co_await run_on<void>(worker_, [wall = wall_] { return wall->refresh(); });
}

Task<> DockerNetwork::ensure(NetworkSpec spec) {
    CO_TRY(validate(spec));
    // The wall first: no container ever stands in a bridge without it. It is looked at each time, since a
    // reboot or a firewall's reload takes it away while the engine keeps its network.
    CO_TRY(co_await guard(spec.id));
    auto there = CO_TRY(co_await inspect(spec.id));
    if (!there) {
        auto made = co_await make(spec);
        if (made) co_return Result<>{};
        there = CO_TRY(co_await inspect(spec.id));  // Another task may have been faster.
        if (!there) {
            CO_TRY(co_await unguard(spec.id));
            co_return made;
        }
    }
    if (there->subnet != spec.subnet || there->gateway != spec.gateway)
        co_return fail(Code::conflict, fmt::format("network {} exists with subnet {} and gateway {}", spec.id,
                                                   there->subnet, there->gateway));
    co_return Result<>{};
}

Task<> DockerNetwork::make(const NetworkSpec& spec) {
    const auto kind = CO_TRY(co_await dialect());
    const auto answer = CO_TRY(co_await api_.call("POST", "/networks/create", settings_.call_time,
                                                  network_body(spec, settings_.owner, kind)));
    if (answer.success()) co_return Result<>{};
    dialect_.reset();  // Another engine may be there by now.
    const auto words = error_text(answer.body);
    if (words.contains("already used") || words.contains("overlap") || words.contains("in use"))
        co_return fail(Code::conflict,
                       fmt::format("network {}: subnet {} is in use ({})", spec.id, spec.subnet, words));
    if (says_disk_full(words))
        co_return fail(Code::exhausted,
                       fmt::format("network {}: the host's disk is full ({})", spec.id, words), "disk_full");
    co_return fail(Code::unavailable, fmt::format("network {} cannot be made: {}", spec.id, words));
}

Task<> DockerNetwork::remove(std::string id) {
    const auto answer = CO_TRY(co_await api_.call("DELETE", network_path(id), settings_.call_time));
    const auto words = answer.success() || answer.status == 404 ? std::string{} : error_text(answer.body);
    if (words.contains("being used") || words.contains("active endpoints") || words.contains("in use"))
        co_return fail(Code::conflict, fmt::format("network {} still has containers in it", id));
    if (!words.empty())
        co_return fail(Code::unavailable, fmt::format("network {} cannot be removed: {}", id, words));
    CO_TRY(co_await run_on<void>(worker_, [bridge = bridge_name(id)] { return remove_left_bridge(bridge); }));
    co_return co_await unguard(id);
}

Task<std::vector<std::string>> DockerNetwork::list() {
    const boost::json::value filters{
        {"label", boost::json::array{fmt::format("{}={}", owner_label, settings_.owner)}}};
    const bool podman = CO_TRY(co_await dialect()) == Dialect::podman;
    const auto path = target(podman ? "/libpod/networks/json" : "/networks",
                             {{"filters", boost::json::serialize(filters)}});
    const auto answer = CO_TRY(co_await api_.call("GET", path, settings_.call_time));
    if (!answer.success()) {
        dialect_.reset();  // Another engine may be there by now.
        co_return fail(Code::unavailable,
                       fmt::format("networks cannot be listed: {}", error_text(answer.body)));
    }
    std::vector<std::string> ids;
    for (auto& network : CO_TRY(parse_networks(answer.body)))
        if (!network.id.empty()) ids.push_back(std::move(network.id));
    std::ranges::sort(ids);
    co_return ids;
}

}  // namespace hostler::docker
