#include "adapters/docker/wall.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "adapters/docker/firewall.h"
#include "adapters/docker/process.h"
#include "adapters/docker/seen_wall.h"

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
    if (rules_)
        if (const auto seen = see_wall(); seen && seen->rules == *rules_ && seen->guards(bridge)) return {};
    const Lock lock{settings_.lock};
    if (!lock.held()) return not_locked(settings_.lock);
    rules_.reset();
    TRY(nft({"-f", "-"}, wall_up(bridge), settings_.time));
    // Without a look, or if somebody has been faster to undo it, it is put up anew the next time.
    if (auto seen = see_wall(); seen && seen->rules_count == wall_rules_count())
        rules_ = std::move(seen->rules);
    return {};
}

Result<> Wall::take_down(std::string_view bridge) {
    const Lock lock{settings_.lock};
    if (!lock.held()) return not_locked(settings_.lock);
    TRY(nft({"-f", "-"}, wall_down(bridge), settings_.time));
    const auto listing = TRY(nft({"list", "set", "inet", "hostler", "bridges"}, {}, settings_.time));
    if (no_bridges(listing)) TRY(nft({"-f", "-"}, table_drop, settings_.time));
    return {};
}

}  // namespace hostler::docker
