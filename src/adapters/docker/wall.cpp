#include "adapters/docker/wall.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "adapters/docker/file_lock.h"
#include "adapters/docker/process.h"
#include "adapters/docker/routes.h"
#include "adapters/docker/seen_wall.h"

namespace hostler::docker {

namespace {

constexpr std::chrono::seconds lock_time{30};  // Another agent may be setting many rules.

// Held while the table is changed: that nobody adds a bridge between another's look and its removal of the
// table.
class Lock {
public:
    explicit Lock(const std::string& path)
        : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
        if (fd_ < 0 || lock_within(fd_, lock_time)) return;
        const int why = errno;
        ::close(std::exchange(fd_, -1));
        errno = why;
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

std::unexpected<Error> not_locked(const std::string& path) {
    return fail(Code::unavailable,
                fmt::format("the host's firewall cannot be set: {}: {}", path, std::strerror(errno)));
}

Result<std::string> nft(std::vector<std::string> arguments, std::string rules,
                        std::chrono::milliseconds within) {
    arguments.insert(arguments.begin(), "nft");
    auto outcome = TRY(run_process(std::move(arguments), std::move(rules), within));
    if (outcome.exit_code == 0) return std::move(outcome.output);
    return fail(Code::unavailable, fmt::format("the host's firewall cannot be set: nft: {}", outcome.output));
}

}  // namespace

Result<> Wall::put_up(std::string_view bridge) {
    auto connected = connected_networks(TRY(ipv4_routes()));
    if (rules_ && connected == connected_)
        if (const auto seen = see_wall(settings_.table);
            seen && seen->rules == *rules_ && seen->guards(bridge)) {
            bridges_.emplace(bridge);
            return {};
        }
    const Lock lock{settings_.lock};
    if (!lock.held()) return not_locked(settings_.lock);
    rules_.reset();
    const WallPlan plan{settings_.table, settings_.reach, connected};
    TRY(nft({"-f", "-"}, wall_up(plan, bridge), settings_.time));
    bridges_.emplace(bridge);
    // Without a look, or if somebody has been faster to undo it, it is put up anew the next time.
    if (auto seen = see_wall(settings_.table); seen && seen->rules_count == wall_rules_count()) {
        rules_ = std::move(seen->rules);
        connected_ = std::move(connected);
    }
    return {};
}

Result<> Wall::refresh() {
    const auto bridges = bridges_;
    for (const auto& bridge : bridges) TRY(put_up(bridge));
    return {};
}

Result<> Wall::take_down(std::string_view bridge) {
    const Lock lock{settings_.lock};
    if (!lock.held()) return not_locked(settings_.lock);
    if (const auto at = bridges_.find(bridge); at != bridges_.end()) bridges_.erase(at);
    return take_out(settings_.table, bridge);
}

Result<> Wall::leave_former_table(std::string_view bridge) {
    static const std::string former = WallSettings{}.table;
    if (settings_.table == former) return {};
    const Lock lock{settings_.lock};
    if (!lock.held()) return not_locked(settings_.lock);
    const auto listing = run_process({"nft", "list", "set", "inet", former, "bridges"}, {}, settings_.time);
    if (!listing || !listing->output.contains(fmt::format("\"{}\"", bridge))) return {};
    return take_out(former, bridge);
}

Result<> Wall::take_out(std::string_view table, std::string_view bridge) {
    TRY(nft({"-f", "-"}, wall_down(table, bridge), settings_.time));
    const auto listing = TRY(nft({"list", "set", "inet", std::string{table}, "bridges"}, {}, settings_.time));
    if (no_bridges(listing)) TRY(nft({"-f", "-"}, table_drop(table), settings_.time));
    return {};
}

Result<> check_table_name(std::string_view name) {
    constexpr std::size_t length_max = 32;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const bool fits =
        !name.empty() && name.size() <= length_max && letter(name.front()) &&
        std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
    if (fits) return {};
    return fail(Code::invalid, fmt::format("'{}' is not a table's name: {} letters, digits and _ at most, "
                                           "first a letter",
                                           name, length_max));
}

}  // namespace hostler::docker
