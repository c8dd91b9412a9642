#include "roles/master/master.h"

#include <fmt/format.h>

#include "core/log.h"
#include "roles/master/host_link.h"
#include "roles/master/links.h"

namespace hostler::master {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t links_max = 1024;
constexpr std::size_t connections_max = 4096;

}  // namespace

Master::Master(Settings settings, Ports ports)
    : settings_(std::move(settings)), ports_(std::move(ports)), front_(ports_, settings_, lead_) {}

Task<> Master::run() {
    const AddressPool pool = CO_TRY(AddressPool::parse(settings_.network_pool));
    ListenerPtr api = CO_TRY(co_await ports_.net.listen(settings_.api_address));
    ListenerPtr links = CO_TRY(co_await ports_.net.listen(settings_.wire_address));
    api_address_ = api->address();
    wire_address_ = links->address();
    if (settings_.public_url.empty()) settings_.public_url = "http://" + api_address_;
    listening_ = true;
    log_info("master: API at http://{}, links at {}", api_address_, wire_address_);

    TaskGroup group{ports_.loop};
    http::Server server{ports_.loop, ports_.timers, connections_max};
    group.start("api", server.run(std::move(api),
                                  [this](StreamPtr stream) { return front_.serve(std::move(stream)); }));
    group.start("links", accept_links(std::move(links)));
    group.start("certificate", renew_own());
    const auto ended = co_await lead_terms(pool);
    co_await group.close();
    co_await server.stop(seconds{1});
    co_return ended;
}

Task<> Master::ready() {
    while (!listening_ || !led_) CO_TRY(co_await changed_.wait());
    co_return Result<>{};
}

Task<> Master::accept_links(ListenerPtr listener) {
    TaskGroup handshakes{ports_.loop};
    while (true) {
        auto stream = co_await listener->accept();
        if (!stream) {
            if (stream.error().code == Code::cancelled) break;
            continue;
        }
        if (handshakes.size() < links_max) handshakes.start("link", secure_link(std::move(*stream)));
    }
    co_await handshakes.close();
    co_return fail(Code::cancelled, "cancelled");
}

Task<> Master::secure_link(StreamPtr raw) {
    const std::string from{raw->address()};
    auto stream = co_await ports_.net.secure(
        std::move(raw), {.own = ports_.own.credentials(), .grace = renewable}, Side::server, seconds{10});
    if (!stream) {
        log_info("link from {} refused: {}", from, stream.error().message);
        co_return Result<>{};
    }
    // A link belongs to the term in which it began; without one, its owner comes back.
    if (const TermPtr term = lead_.term; term && !term->ended() && !term->read_only())
        term->tasks().start("link", serve_link(term, std::move(*stream)));
    co_return Result<>{};
}

// It is its own authority's first subject.
Task<> Master::renew_own() {
    while (true) {
        const WallTime now = ports_.timers.wall();
        if (ports_.own.due(now)) {
            const auto request = ports_.own.request();
            const auto made =
                !request ? Result<SignedCertificate>{std::unexpected(request.error())}
                         : ports_.authority.sign(*request, ports_.own.identity(), now - clock_tolerance,
                                                 settings_.certificate_life + clock_tolerance);
            const auto kept = !made ? Result<>{std::unexpected(made.error())}
                                    : co_await ports_.own.renewed(made->certificate);
            CO_TRY(co_await check_cancelled());
            if (kept)
                log_info("master: its certificate is renewed until {}", rfc3339(made->facts.not_after));
            else
                log_error("master: its certificate is not renewed yet: {}", kept.error().message);
        }
        CO_TRY(co_await sleep(ports_.timers, std::chrono::minutes{10}));
    }
}

Task<> Master::lead_terms(AddressPool pool) {
    Duration pause = milliseconds{100};
    while (true) {
        const auto ended = co_await one_term(pool, outranked_by_);
        if (lead_.term) {
            outranked_by_ = std::max(outranked_by_, lead_.term->outranked_by());
            pause = milliseconds{100};
        }
        const bool led = lead_.term != nullptr;
        lead_.term = nullptr;
        if (!ended && ended.error().code == Code::cancelled) co_return ended;
        full_.reset();
        if (!ended && ended.error().code == Code::exhausted) full_ = ended.error();
        if (ended) continue;
        log_error("master: the term has ended: {}", ended.error().message);
        if (full_ && led) continue;  // The next waits by itself, and can be read meanwhile.
        CO_TRY(co_await sleep(ports_.timers, pause));
        pause = std::min<Duration>(pause * 2, seconds{5});
    }
}

Task<> Master::one_term(AddressPool pool, std::uint64_t above) {
    const Contender own{settings_.name, settings_.advertise.empty() ? wire_address_ : settings_.advertise};
    const Lease lease = CO_TRY(co_await ports_.store.lead(own, settings_.lease, above));
    const std::uint64_t epoch = lease.epoch;
    Snapshot snapshot = CO_TRY(co_await ports_.store.load());
    auto term = std::make_shared<Term>(ports_, settings_, pool, epoch, snapshot.number);
    CO_TRY(term->estate().load(snapshot.live));
    if (full_) co_return co_await wait_for_room(std::move(term), snapshot.number);
    CO_TRY(first_start(*term));
    lead_.term = term;
    TaskGroup group{ports_.loop};
    group.start("first commit", term->commit());
    log_info("master: leads in epoch {}, {} objects", epoch, snapshot.live.size());
    led_ = true;
    changed_.notify_all();
    const auto ended = co_await term->run();
    co_await group.close();
    co_return ended;
}

// Until its disk has room again, what the store holds can be read and nothing is changed: a term that began
// to work would end at its first commit, and nobody could even look in between.
Task<> Master::wait_for_room(TermPtr term, std::uint64_t number) {
    const Instant since = ports_.timers.now();
    log_error("master: {}; until then everything can be read and nothing changed", full_->message);
    term->only_read(*full_);
    lead_.term = term;
    led_ = true;
    changed_.notify_all();
    Result<> room{};
    do {
        room = co_await sleep(ports_.timers, seconds{1});
        if (!room) break;
        Changes changes{.epoch = term->epoch(), .number = number + 1};
        const auto lasted = std::chrono::duration_cast<seconds>(ports_.timers.now() - since);
        changes.events.push_back(
            {.time = ports_.timers.wall(),
             .kind = "master",
             .id = "store",
             .actor = "master",
             .reason = "disk_has_room",
             .message =
                 fmt::format("The store's disk was full: for {} s nothing was changed.", lasted.count())});
        room = co_await ports_.store.commit(std::move(changes));
    } while (!room && room.error().code == Code::exhausted);
    term->end(room ? *full_ : room.error());
    (void)co_await term->tasks().close();
    co_return room;
}

Result<> Master::first_start(Term& term) {
    Desk& desk = term.desk("master");
    for (const ZoneSetting& zone : settings_.zones) {
        if (desk.estate.zones.find(zone.name)) continue;
        desk.estate.zones.add({.name = zone.name, .place = zone.place, .created_at = desk.estate.micros()});
        desk.estate.event("zone", zone.name, "", "created", fmt::format("Zone {} was created.", zone.name));
    }
    return {};
}

}  // namespace hostler::master
