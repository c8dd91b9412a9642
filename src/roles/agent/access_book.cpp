#include "roles/agent/access_book.h"

#include <algorithm>

#include "core/log.h"
#include "core/task_group.h"
#include "proto/uplink.pb.h"

namespace hostler::agent {

namespace {

constexpr std::string_view book_key = "access";
constexpr std::size_t address_max = 256;
constexpr std::uint64_t quick_rounds = 4;
constexpr Duration measure_deadline = seconds{3};
constexpr Duration leave_max = minutes{10};

Duration between(Random& random, Duration from, Duration to) {
    return from +
           Duration{static_cast<std::int64_t>(random_number(random) % 1024)} * ((to - from).count() / 1024);
}

void add(std::vector<std::string>& to, const std::string& address) {
    if (to.size() < AccessBook::ways_max && std::ranges::count(to, address) == 0) to.push_back(address);
}

}  // namespace

AccessBook::AccessBook(const Settings& settings, const Ports& ports) : settings_(settings), ports_(ports) {}

AccessBook::~AccessBook() = default;

void AccessBook::load() {
    first_ = settings_.access;
    if (const auto stored = ports_.journal.all().find(std::string{book_key});
        stored != ports_.journal.all().end()) {
        uplink::AccessList list;
        if (list.ParseFromString(stored->second)) take(list);
        written_ = told_;
    }
    rebuild();
}

Task<> AccessBook::watch() {
    Instant resolved{};
    while (true) {
        if (rounds_ == 0 || ports_.timers.now() - resolved >= settings_.resolve_interval) {
            CO_TRY(co_await resolve());
            resolved = ports_.timers.now();
        }
        TaskGroup round{ports_.loop};
        for (const Way& way : ways_) round.start("round trip", measure(way.address));
        Result<> measured{};
        while (measured && round.size() > 0) measured = co_await sleep(ports_.timers, milliseconds{50});
        (void)co_await round.close();
        CO_TRY(measured);
        ++rounds_;
        rebuild();
        const Duration pause = rounds_ < quick_rounds ? settings_.measure_first : settings_.measure_then;
        CO_TRY(co_await sleep(ports_.timers, between(ports_.random, pause * 3 / 4, pause * 5 / 4)));
    }
}

// A name without an answer keeps those that it had.
Task<> AccessBook::resolve() {
    if (!ports_.names) co_return Result<>{};
    std::vector<std::string> all;
    for (const std::string& name : settings_.access) {
        const auto addresses = co_await ports_.names->addresses(name, settings_.dial_deadline);
        CO_TRY(co_await check_cancelled());
        if (!addresses) {
            log_debug("{}: {}", name, addresses.error().message);
            add(all, name);
            for (const std::string& before : first_) add(all, before);
            continue;
        }
        for (const std::string& address : *addresses) add(all, address);
    }
    if (all == first_) co_return Result<>{};
    first_ = std::move(all);
    rebuild();
    co_return Result<>{};
}

Task<> AccessBook::measure(std::string address) {
    const Instant begun = ports_.timers.now();
    const auto stream = co_await ports_.net.dial(address, measure_deadline);
    if (!stream) co_return Result<>{};
    auto& samples = known_[address].samples;
    samples.push_back(ports_.timers.now() - begun);
    if (samples.size() > samples_max) samples.pop_front();
    co_return Result<>{};
}

Task<> AccessBook::learn(const uplink::AccessList& list) {
    if (list.access().empty()) co_return Result<>{};
    take(list);
    rebuild();
    if (told_ == written_) co_return Result<>{};
    auto now = told_;
    const auto kept = co_await ports_.journal.put(std::string{book_key}, list.SerializeAsString());
    if (!kept && kept.error().code == Code::cancelled) co_return kept;
    if (kept)
        written_ = std::move(now);
    else
        log_warn("the access points are not written down: {}", kept.error().message);
    co_return Result<>{};
}

void AccessBook::take(const uplink::AccessList& list) {
    told_.clear();
    for (auto& [address, known] : known_) known.up = true, known.draining = false;
    const Duration within = std::min<Duration>(milliseconds{std::int64_t{list.leave_within_ms()}}, leave_max);
    for (const auto& entry : list.access()) {
        if (entry.address().empty() || entry.address().size() > address_max) continue;
        add(told_, entry.address());
        known_[entry.address()].name = entry.name();
        // Also of its other addresses, as a name may have given them.
        for (auto& [address, known] : known_) {
            if (known.name != entry.name() || known.name.empty()) continue;
            known.zone = entry.zone();
            known.load_percent = static_cast<int>(std::min<std::uint32_t>(entry.load_percent(), 100));
            known.up = entry.up();
            known.draining = entry.draining();
            if (!entry.draining()) known.leave_at = {};
            if (entry.draining() && known.leave_at == Instant{})
                known.leave_at = ports_.timers.now() + between(ports_.random, Duration{0}, within);
        }
    }
}

void AccessBook::rebuild() {
    std::vector<std::string> all = first_;
    for (const std::string& address : told_) add(all, address);
    for (const std::string& address : held_) add(all, address);
    std::erase_if(known_, [&](const auto& row) { return std::ranges::count(all, row.first) == 0; });
    ways_.clear();
    for (const std::string& address : all) {
        const Known& known = known_[address];
        Way way{.address = address,
                .name = known.name,
                .zone = known.zone,
                .load_percent = known.load_percent,
                .up = known.up,
                .draining = known.draining,
                .rests_until = known.rests_until};
        if (!known.samples.empty()) {
            std::vector<Duration> samples{known.samples.begin(), known.samples.end()};
            std::ranges::nth_element(samples,
                                     samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2));
            way.rtt = samples[samples.size() / 2];
        }
        ways_.push_back(std::move(way));
    }
    changed_.notify_all();
}

const Way* AccessBook::find(const std::string& address) const {
    const auto way = std::ranges::find(ways_, address, &Way::address);
    return way == ways_.end() ? nullptr : &*way;
}

void AccessBook::met(const std::string& address, std::string_view identity) {
    constexpr std::string_view role = "access/";
    if (!known_.contains(address) || !identity.starts_with(role)) return;
    known_[address].name = identity.substr(role.size());
    rebuild();
}

void AccessBook::hold(const std::string& address) { held_.push_back(address); }

void AccessBook::let_go(const std::string& address) {
    const auto held = std::ranges::find(held_, address);
    if (held == held_.end()) return;
    held_.erase(held);
    rebuild();
}

void AccessBook::failed(const std::string& address) {
    const auto at = known_.find(address);
    if (at == known_.end()) return;
    Duration& rest = at->second.rest;
    rest = rest == Duration{} ? settings_.backoff_min : std::min(rest * 2, settings_.backoff_max);
    // Half of it for certain, half by chance, so that a thousand hosts do not come back at once.
    at->second.rests_until = ports_.timers.now() + between(ports_.random, rest / 2, rest);
    rebuild();
}

void AccessBook::worked(const std::string& address) {
    const auto at = known_.find(address);
    if (at == known_.end()) return;
    at->second.rest = {};
    at->second.rests_until = {};
    rebuild();
}

bool AccessBook::time_to_leave(const std::string& address) const {
    const auto at = known_.find(address);
    return at != known_.end() && at->second.draining && ports_.timers.now() >= at->second.leave_at;
}

}  // namespace hostler::agent
