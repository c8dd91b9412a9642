#include "roles/agent/session.h"

#include <algorithm>

#include "core/log.h"
#include "proto/uplink.pb.h"

namespace hostler::agent {

namespace {

constexpr Duration steady = seconds{30};     // A connection that lasted so long was a good one.
constexpr Duration look_again = seconds{1};  // At what only time changes: who rests, who is to be left.

}  // namespace

Session::Session(const Settings& settings, const Ports& ports, MemberBook& member, CommandBook& book,
                 Reporter& reporter, Hooks hooks)
    : settings_(settings),
      ports_(ports),
      member_(member),
      book_(book),
      reporter_(reporter),
      hooks_(std::move(hooks)),
      ways_(settings, ports) {}

Task<> Session::run() {
    if (settings_.access.empty()) co_return fail(Code::invalid, "no access point is given");
    life_ = new_id(ports_.random, "life");
    ways_.load();
    TaskGroup tasks{ports_.loop};
    tasks.start("ways", ways_.watch());
    for (std::size_t index = 0; index < std::clamp<std::size_t>(settings_.uplinks, 1, slots_.size()); ++index)
        tasks.start("session", hold(index));
    const auto ended = co_await conduct();
    (void)co_await tasks.close();
    co_return ended;
}

// One connection after the other, each to the best access point that the other slot does not hold.
Task<> Session::hold(std::size_t index) {
    Slot& slot = slots_[index];
    std::string said;
    while (true) {
        const Way* way = way_for(index);
        if (!way) {
            const Deadline deadline{ports_.timers, look_again, [this] { ways_.changed().notify_all(); }};
            CO_TRY(co_await ways_.changed().wait());
            continue;
        }
        const std::string address = slot.address = way->address;
        ways_.hold(address);
        const Instant begun = ports_.timers.now();
        Result<> ended{};
        if (member_.beyond_renewal()) {
            ended = fail(Code::unauthenticated,
                         "this host's certificate expired too long ago to be renewed; start the agent again "
                         "with a token: hostler host token create");
        } else if (member_.expired()) {
            ended = co_await member_.renew_at(address);
            if (ended) {
                ways_.let_go(address);
                continue;
            }
        } else if (auto stream = co_await member_.dial(address)) {
            ended = co_await serve(slot, std::move(*stream));
        } else {
            ended = std::unexpected(stream.error());
        }
        slot.address.clear();
        ways_.let_go(address);
        slot.tried = true;
        CO_TRY(co_await check_cancelled());
        const std::string why = ended ? "it ended" : ended.error().message;
        if (std::exchange(said, address + why) != address + why)
            log_warn("no connection to {}: {}", address, why);
        if (ended || ports_.timers.now() - begun >= steady) ways_.worked(address);
        ways_.failed(address);
        changed_.notify_all();
    }
}

// The standby waits until the first has found its place, so that the order of --access says who is first.
const Way* Session::way_for(std::size_t index) const {
    const Slot& first = slots_[index == 0 ? 1 : 0];
    if (index != 0 && !active_ && !slots_[0].tried && !slots_[1].tried) return nullptr;
    const Way* taken = first.address.empty() ? nullptr : ways_.find(first.address);
    return pick(ways_.ways(), taken, member_.member().zone, ports_.timers.now(), first.link == nullptr);
}

Task<> Session::serve(Slot& slot, StreamPtr stream) {
    wire::Link link{ports_.loop, ports_.timers, std::move(stream)};
    ways_.met(slot.address, link.identity());
    // By two names the same one: that is no second way.
    if (const Way *mine = ways_.find(slot.address), *its = ways_.find(other(slot).address);
        mine && its && other(slot).link && mine->name == its->name)
        co_return fail(Code::conflict,
                       fmt::format("{} is {}, which is held already", slot.address, mine->name));
    TaskGroup tasks{ports_.loop};
    slot.link = &link;
    slot.master = std::make_shared<MasterLink>(ports_, link);
    slot.tasks = &tasks;
    slot.number = ++links_made_;
    slot.quiet_until = {};
    slot.quiet = {};
    tasks.start("uplink", [](wire::Link& on, Duration interval, Duration patience) -> Task<> {
        (void)co_await on.keep_alive(interval, patience);
        co_return Result<>{};
    }(link, settings_.standby_ping_interval, settings_.standby_patience));
    changed_.notify_all();
    const auto ended = co_await receive(slot);
    if (active_ == &slot) active_ = nullptr;
    if (wanted_ == &slot) wanted_ = nullptr;
    std::exchange(slot.master, nullptr)->end();
    slot.link = nullptr;
    slot.tasks = nullptr;
    link.close();
    (void)co_await tasks.close();
    co_return ended;
}

Task<> Session::receive(Slot& slot) {
    while (true) {
        uplink::Frame frame = CO_TRY(co_await slot.link->receive());
        CO_TRY(co_await handle(slot, std::move(frame)));
    }
}

std::string Session::access() const {
    const Way* way = active_ ? ways_.find(active_->address) : nullptr;
    return way ? way->name : "";
}

std::size_t Session::links() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(slots_, [](const Slot& slot) { return slot.link; }));
}

}  // namespace hostler::agent
