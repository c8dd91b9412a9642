#include "roles/master/server/master.h"

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/master/pki/authority.h"
#include "roles/master/pki/edge_keys.h"
#include "roles/master/sealing/keys.h"
#include "roles/master/sealing/sealing.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/unmanaged/unmanaged.h"
#include "roles/master/uplink/host_link.h"
#include "roles/master/uplink/links.h"
#include "wire/link.h"

namespace hostler::master {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration look_max = milliseconds{250};        // Between two looks at who leads.
constexpr Duration catch_up_pause = milliseconds{500};  // Of the copy that a follower keeps.

}  // namespace

Master::Master(Settings settings, Ports ports)
    : settings_(std::move(settings)),
      ports_(std::move(ports)),
      front_(ports_, settings_, lead_),
      server_(ports_.loop, ports_.timers, settings_.connections_max, settings_.connections_address_max),
      series_care_(ports_.timers, ports_.series, settings_),
      standby_(ports_) {}

Task<> Master::run() {
    const AddressPool pool = CO_TRY(AddressPool::parse(settings_.network_pool));
    ListenerPtr api = CO_TRY(co_await ports_.net.listen(settings_.api_address));
    ListenerPtr links = CO_TRY(co_await ports_.net.listen(settings_.wire_address));
    api_address_ = api->address();
    wire_address_ = links->address();
    if (settings_.advertise.empty()) settings_.advertise = wire_address_;
    http::Arrival arrival = ports_.arrival;
    arrival.net = &ports_.net;
    const std::string_view scheme = arrival.certificate ? "https" : "http";
    if (settings_.public_url.empty()) {
        settings_.public_url = fmt::format("{}://{}", scheme, api_address_);
        settings_.public_url_guessed = true;
    }
    listening_ = true;
    log_info("master: API at {}://{}, links at {}", scheme, api_address_, wire_address_);

    TaskGroup group{ports_.loop};
    const auto serve_one = [this](StreamPtr stream, http::Place& place) {
        return front_.serve(std::move(stream), &server_.drain(), &place);
    };
    group.start("api", server_.run(std::move(api), serve_one, std::move(arrival)));
    group.start("links", accept_links(std::move(links)));
    group.start("certificate", renew_own());
    group.start("series", series_care_.run());
    group.start("sealing keys", warn_of_missing_keys(ports_, lead_));
    group.start("series of the leader", front_.series_follow().run());
    const auto ended = co_await lead_terms(pool);
    co_await group.close();
    co_await server_.stop(seconds{1});
    co_return ended;
}

Task<> Master::leave(Duration patience) {
    log_info("master: it leaves: {} connections", server_.connections());
    if (lead_.term) lead_.term->feed().close();
    bool late = false;
    const Deadline deadline{ports_.timers, patience, [&] {
                                late = true;
                                changed_.notify_all();
                            }};
    CO_TRY(co_await server_.stop(patience));
    while (followers_ > 0 && !late) CO_TRY(co_await changed_.wait());
    co_return Result<>{};
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
        if (links_ < links_max) handshakes.start("link", secure_link(std::move(*stream)));
    }
    co_await handshakes.close();
    co_return fail(Code::cancelled, "cancelled");
}

Task<> Master::secure_link(StreamPtr raw) {
    const std::string from{raw->address()};
    ++links_;
    auto stream = co_await ports_.net.secure(
        std::move(raw), {.own = ports_.own.credentials(), .grace = renewable}, Side::server, seconds{10});
    --links_;
    if (!stream) {
        log_info("link from {} refused: {}", from, stream.error().message);
        co_return Result<>{};
    }
    if ((*stream)->identity().starts_with("master/")) {
        if ((*stream)->expired()) co_return Result<>{};  // It renews its certificate by itself.
        co_return co_await serve_follower(std::move(*stream));
    }
    // A link belongs to the term in which it began; without one, its owner comes back.
    const TermPtr term = lead_.term;
    if (!term || term->ended()) co_return co_await refuse_link(std::move(*stream));
    if (!term->read_only()) term->tasks().start("link", serve_link(term, std::move(*stream)));
    co_return Result<>{};
}

Task<> Master::serve_follower(StreamPtr stream) {
    if (followers_ >= settings_.connections_max) co_return Result<>{};
    ++followers_;
    const auto served = co_await front_.serve(std::move(stream), &server_.drain());
    --followers_;
    changed_.notify_all();
    co_return served;
}

// And tells where the leader is.
Task<> Master::refuse_link(StreamPtr stream) {
    wire::Link link{ports_.loop, ports_.timers, std::move(stream)};
    const Deadline deadline{ports_.timers, seconds{10}, [&link] { link.close(); }};
    const auto hello = CO_TRY(co_await link.receive());  // Not read, it would cost our answer.
    uplink::Frame frame = wire::failure_frame(
        {Code::unavailable,
         lead_.other ? fmt::format("master {} leads", lead_.other->name) : "no master leads at the moment",
         "not_leader"});
    if (lead_.other) frame.mutable_failure()->set_leader(lead_.other->address);
    frame.set_answer_to(hello.call());
    CO_TRY(co_await link.send(std::move(frame)));
    (void)co_await link.flush(seconds{1});
    co_return Result<>{};
}

// It is its own authority's first subject. Also of a new one, and it believes whom the keys say.
bool Master::renewal_due() const {
    const auto own = ports_.own.credentials();
    if (ports_.own.due(ports_.timers.wall()) || own->authority != ports_.authority.certificate()) return true;
    const auto facts = ports_.authority.check(own->certificate);
    return facts && facts->authority != ports_.authority.all().back().fingerprint;
}

Task<> Master::renew_own() {
    Instant again{};  // A renewal that fails is tried again a minute later.
    while (true) {
        const WallTime now = ports_.timers.wall();
        if (ports_.timers.now() >= again && renewal_due()) {
            const std::string believed = ports_.own.credentials()->authority;
            const auto request = ports_.own.request();
            const auto made = !request ? Result<SignedCertificate>{std::unexpected(request.error())}
                                       : ports_.authority.sign(*request, ports_.own.identity(),
                                                               ports_.own.names(), now - clock_tolerance,
                                                               settings_.certificate_life + clock_tolerance);
            const auto kept =
                !made ? Result<>{std::unexpected(made.error())}
                      : co_await ports_.own.renewed(made->certificate, ports_.authority.certificate());
            again = kept ? Instant{} : ports_.timers.now() + std::chrono::minutes{1};
            CO_TRY(co_await check_cancelled());
            if (kept)
                log_info("master: its certificate is renewed until {}", rfc3339(made->facts.not_after));
            else
                log_error("master: its certificate is not renewed yet: {}", kept.error().message);
            // Links that stand on it are open still.
            if (kept && lead_.term && !ports_.authority.certificate().contains(believed))
                lead_.term->end({Code::unavailable, "an authority was withdrawn: everybody comes again"});
        }
        CO_TRY(co_await sleep(ports_.timers, seconds{1}));
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
        tell(nullptr, std::nullopt);
        if (!ended && ended.error().code == Code::cancelled) {
            if (led && lead_.shared) co_await resign();
            co_return ended;
        }
        if (!ended && ended.error().reason == "lease_held") {
            lead_.shared = true;
            expect(true);
            CO_TRY(co_await follow());
            continue;
        }
        expect(false);
        full_.reset();
        lead_.damaged = !ended && ended.error().reason == "row_damaged";
        if (!ended && ended.error().code == Code::exhausted) full_ = ended.error();
        if (ended) continue;
        // Whoever has the right keys is to lead; a person has to bring them here.
        if (ended.error().reason == "authority_old" || ended.error().reason == "sealing_key_missing") {
            if (lead_.shared) co_await resign();
            co_return ended;
        }
        log_error("master: the term has ended: {}", ended.error().message);
        if (full_ && led) continue;  // The next waits by itself, and can be read meanwhile.
        CO_TRY(co_await sleep(ports_.timers, pause));
        pause = std::min<Duration>(pause * 2, lead_.shared ? Duration{settings_.lease} : seconds{5});
    }
}

// Loading everything may take longer than a lease: it comes before, while nobody waits for this master.
Task<> Master::prepare_to_lead() {
    if (standby_.loaded()) co_return Result<>{};
    const auto leader = co_await ports_.store.leader();
    CO_TRY(co_await check_cancelled());
    const bool lasts =
        leader && *leader && (*leader)->left > Duration{0} && (*leader)->left <= 2 * settings_.lease;
    if (lasts && (*leader)->who != self())
        co_return fail(Code::conflict, fmt::format("master {} leads", (*leader)->who.name), "lease_held");
    (void)co_await standby_.catch_up();  // The term tells what it cannot begin without.
    co_return co_await check_cancelled();
}

Task<> Master::one_term(AddressPool pool, std::uint64_t above) {
    CO_TRY(co_await prepare_to_lead());
    const Instant asked = ports_.timers.now_with_sleep();
    const Lease lease = CO_TRY(co_await ports_.store.lead(self(), settings_.lease, above));
    lead_.shared = lease.runs_out;
    const auto tenure = lease.runs_out ? std::make_shared<Tenure>(settings_.lease, asked, &ports_.store)
                                       : std::make_shared<Tenure>();
    TaskGroup group{ports_.loop};
    if (lease.runs_out) group.start("lease", hold_until_lost(tenure));
    const auto ended = co_await serve_term(pool, lease.epoch, tenure);
    co_await group.close();
    ports_.store.stop_keeping();
    co_return ended;
}

Task<> Master::hold_until_lost(std::shared_ptr<Tenure> tenure) {
    const auto lost = co_await hold_lease(ports_.timers, ports_.store, tenure);
    if (lost.error().code == Code::cancelled) co_return lost;
    tenure->end();
    if (lead_.term) lead_.term->end(lost.error());
    co_return Result<>{};
}

Task<> Master::serve_term(AddressPool pool, std::uint64_t epoch, std::shared_ptr<const Tenure> tenure) {
    CO_TRY(co_await standby_.catch_up());
    const std::uint64_t number = standby_.number();
    auto term = std::make_shared<Term>(ports_, settings_, pool, epoch, number, tenure);
    term->begin_with(standby_.take());
    if (term->ended()) co_return std::unexpected(lease_lost());
    if (full_) co_return co_await wait_for_room(std::move(term), number);
    CO_TRY(agree_on_authority(term->desk("master"), ports_.authority));
    CO_TRY(agree_on_sealing(term->desk("master"), ports_.sealer));
    learn_issued(term->desk("master"), ports_);
    tell_of_unreadable(term->desk("master"));
    hold_for_unknown(term->desk("master"));
    ensure_tenants_in_use(term->desk("master"));
    CO_TRY(first_start(*term));
    tell(term, std::nullopt);
    TaskGroup group{ports_.loop};
    group.start("first commit", term->commit());
    log_info("master: leads in epoch {}, {} objects", epoch, term->estate().size());
    led_ = true;
    changed_.notify_all();
    const auto ended = co_await term->run();
    co_await group.close();
    co_return ended;
}

Contender Master::self() const {
    return {settings_.name, settings_.advertise};
}

void Master::tell(TermPtr term, std::optional<Contender> other) {
    if (lead_.term == term && lead_.other == other) return;
    lead_.term = std::move(term);
    lead_.other = std::move(other);
    lead_.changed.notify_all();
}

void Master::expect(bool soon) {
    if (std::exchange(lead_.soon, soon) != soon) lead_.changed.notify_all();
}

// Looks who leads, until it is worth asking for the lease. That somebody leads is believed as long as the
// lease lasts that was last heard of, and no longer.
Task<> Master::follow() {
    TaskGroup group{ports_.loop};
    group.start("copy", standby_.keep(catch_up_pause));
    const auto watched = co_await watch_leader();
    co_await group.close();
    co_return watched;
}

Task<> Master::watch_leader() {
    Deadline end{ports_.timers, settings_.lease, [this] { tell(nullptr, std::nullopt); }};
    Instant until = ports_.timers.now() + settings_.lease;
    std::uint64_t epoch = 0;
    while (true) {
        const Instant asked = ports_.timers.now();
        const auto leader = co_await ports_.store.leader();
        CO_TRY(co_await check_cancelled());
        if (!leader) {
            log_warn("master: the leader is not known: {}", leader.error().message);
            CO_TRY(co_await sleep(ports_.timers, std::min<Duration>(settings_.lease / 4, look_max)));
            if (ports_.timers.now() < until) continue;
            expect(false);
            break;
        }
        // So long lasts no lease: the store's clock was put back, and lead() sees to it.
        const bool too_long = *leader && (*leader)->left > 2 * settings_.lease;
        if (!*leader || (*leader)->left <= Duration{0} || too_long) break;
        const Leader& now = **leader;
        // Its own former life: nobody is there to ask.
        const bool other = now.who != self();
        if (std::exchange(epoch, now.epoch) != now.epoch)
            log_info("master: {} leads in epoch {}, this one follows", now.who.name, now.epoch);
        tell(nullptr, other ? std::optional{now.who} : std::nullopt);
        if (other && !std::exchange(led_, true)) changed_.notify_all();
        until = asked + now.left;
        end.renew(std::max(until - ports_.timers.now(), Duration{0}));
        CO_TRY(co_await sleep(ports_.timers, std::min<Duration>({now.left, settings_.lease / 4, look_max})));
    }
    tell(nullptr, std::nullopt);
    co_return Result<>{};
}

// Nothing is told from memory any more: the next may begin at once.
Task<> Master::resign() {
    Signal ended;
    bool over = false;
    TaskGroup group{ports_.loop};
    const auto ask = [](Store& store, bool& done, Signal& signal) -> Task<> {
        auto resigned = co_await store.resign();
        if (!resigned && resigned.error().code != Code::conflict) resigned = co_await store.resign();
        done = true;
        signal.notify_all();
        co_return resigned;
    };
    group.start("resign", ask(ports_.store, over, ended));
    while (!over) co_await ended.wait_even_if_cancelled();
    co_return co_await group.close();
}

// Until its disk has room again, what the store holds can be read and nothing is changed: a term that began
// to work would end at its first commit, and nobody could even look in between.
Task<> Master::wait_for_room(TermPtr term, std::uint64_t number) {
    const Instant since = ports_.timers.now();
    log_error("master: {}; until then everything can be read and nothing changed", full_->message);
    term->only_read(*full_);
    tell(term, std::nullopt);
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
    } while (!room && room.error().code == Code::exhausted && !term->ended());
    term->end(room ? *full_ : room.error());
    (void)co_await term->tasks().close();
    co_return room;
}

// Each term tells it once more: somebody has to see to it.
void Master::tell_of_unreadable(Desk& desk) {
    for (const auto& [row, why] : desk.estate.unreadable()) {
        const std::string name = fmt::format("{}/{}", row.first, row.second);
        log_error("master: {} in the store cannot be read and is set aside: {}", name, why);
        desk.estate.event("store", name, "", "row_unreadable",
                          fmt::format("{} in the store cannot be read: {}. The cloud runs without it; its "
                                      "claims on a host stay held.",
                                      name, why));
    }
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
