#include "adapters/docker/network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "adapters/docker/firewall.h"
#include "adapters/docker/process.h"
#include "core/percent.h"

namespace hostler::docker {

namespace {

// Held while the table is changed: that nobody adds a bridge between another's look and its removal of the
// table.
class Lock {
public:
    explicit Lock(const std::string& path)
        : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
        while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
        }
    }
    ~Lock() {
        if (fd_ >= 0) ::close(fd_);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    bool held() const { return fd_ >= 0; }

private:
    int fd_;
};

Result<std::string> nft(std::vector<std::string> arguments, std::string rules,
                        std::chrono::milliseconds within) {
    arguments.insert(arguments.begin(), "nft");
    auto outcome = TRY(run_process(std::move(arguments), std::move(rules), within));
    if (outcome.exit_code == 0) return std::move(outcome.output);
    return fail(Code::unavailable, fmt::format("the host's firewall cannot be set: nft: {}", outcome.output));
}

Result<> change_table(const NetworkSettings& settings, const std::string& rules,
                      bool last_one_drops_the_table) {
    const Lock lock{settings.firewall_lock};
    if (!lock.held())
        return fail(Code::unavailable, fmt::format("the host's firewall cannot be set: {}: {}",
                                                   settings.firewall_lock, std::strerror(errno)));
    TRY(nft({"-f", "-"}, rules, settings.firewall_time));
    if (!last_one_drops_the_table) return {};
    const auto listing = TRY(nft({"list", "set", "inet", "hostler", "bridges"}, {}, settings.firewall_time));
    if (no_bridges(listing)) TRY(nft({"-f", "-"}, table_drop, settings.firewall_time));
    return {};
}

std::string network_path(std::string_view id) { return "/networks/" + percent_encode(id); }

}  // namespace

Result<> take_down_wall(const NetworkSettings& settings, std::string_view network) {
    return change_table(settings, wall_down(bridge_name(network)), true);
}

DockerNetwork::DockerNetwork(Net& net, Timers& timers, Worker& worker, NetworkSettings settings)
    : worker_(worker), settings_(std::move(settings)), api_(net, timers, settings_.socket) {}

Task<std::optional<SeenNetwork>> DockerNetwork::inspect(std::string id) {
    const auto answer = CO_TRY(co_await api_.call("GET", network_path(id), settings_.call_time));
    if (answer.status == 404) co_return std::nullopt;
    if (!answer.success())
        co_return fail(Code::unavailable,
                       fmt::format("cannot look at network {}: {}", id, error_text(answer.body)));
    co_return CO_TRY(parse_network(answer.body));
}

Task<Dialect> DockerNetwork::dialect() {
    const auto version = CO_TRY(co_await api_.call("GET", "/version", settings_.call_time));
    co_return CO_TRY(parse_traits(version.body, "{}")).dialect;
}

Task<> DockerNetwork::apply(std::string rules, bool last_one_drops_the_table) {
    co_return co_await run_on<void>(
        worker_, [settings = settings_, rules = std::move(rules), last_one_drops_the_table] {
            return change_table(settings, rules, last_one_drops_the_table);
        });
}

Task<> DockerNetwork::guard(std::string id) { co_return co_await apply(wall_up(bridge_name(id)), false); }

Task<> DockerNetwork::unguard(std::string id) { co_return co_await apply(wall_down(bridge_name(id)), true); }

Task<> DockerNetwork::ensure(NetworkSpec spec) {
    CO_TRY(validate(spec));
    // The wall first: no container ever stands in a bridge without it. It is set each time, since a reboot or
    // a firewall's reload takes it away while the engine keeps its network.
    CO_TRY(co_await apply(wall_up(bridge_name(spec.id)), false));
    auto there = CO_TRY(co_await inspect(spec.id));
    if (!there) {
        auto made = co_await make(spec);
        if (made) co_return Result<>{};
        there = CO_TRY(co_await inspect(spec.id));  // Another task may have been faster.
        if (!there) {
            CO_TRY(co_await apply(wall_down(bridge_name(spec.id)), true));
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
    co_return co_await apply(wall_down(bridge_name(id)), true);
}

Task<std::vector<std::string>> DockerNetwork::list() {
    const boost::json::value filters{
        {"label", boost::json::array{fmt::format("{}={}", owner_label, settings_.owner)}}};
    const auto path = target("/networks", {{"filters", boost::json::serialize(filters)}});
    const auto answer = CO_TRY(co_await api_.call("GET", path, settings_.call_time));
    if (!answer.success())
        co_return fail(Code::unavailable,
                       fmt::format("networks cannot be listed: {}", error_text(answer.body)));
    std::vector<std::string> ids;
    for (auto& network : CO_TRY(parse_networks(answer.body)))
        if (!network.id.empty()) ids.push_back(std::move(network.id));
    std::ranges::sort(ids);
    co_return ids;
}

}  // namespace hostler::docker
