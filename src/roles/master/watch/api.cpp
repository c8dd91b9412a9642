// One stream of the changes of all kinds of objects. It has no bodies: who is told reads what he shows.
#include <fmt/format.h>

#include <map>
#include <set>

#include "api/operations_watch.h"
#include "api/schema.h"
#include "http/message.h"
#include "roles/master/changes/term_mark.h"
#include "roles/master/http/api.h"
#include "roles/master/http/caller.h"
#include "roles/master/watch/kinds.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

constexpr std::uint64_t walked_max = 512;  // Changes looked at for one write.
constexpr seconds keep_alive_time{15};
// Of changes after which a caller may more than before.
constexpr std::string_view rights_kinds[] = {"user",   "group",   "grant",           "role",
                                             "tenant", "project", "service-account", "identity-provider"};
constexpr seconds check_time{1};  // Between two looks at the credential while nothing is told.

using Kinds = std::set<std::string_view>;  // Of shown_kinds().

// Errors: invalid (a kind that there is not; with the nearest).
Result<Kinds> kinds_of(const std::string& asked) {
    std::vector<std::string_view> known;
    for (const ShownKind& kind : shown_kinds()) known.push_back(kind.word);
    Kinds kinds;
    std::string wrong;
    for (std::size_t begin = 0; begin < asked.size();) {
        const std::size_t end = std::min(asked.find(',', begin), asked.size());
        const auto word = http::trimmed(std::string_view{asked}.substr(begin, end - begin));
        begin = end + 1;
        const auto found = std::ranges::find(known, word);
        if (found != known.end()) {
            kinds.insert(*found);
        } else if (wrong.empty() && !word.empty()) {
            const auto near = api::nearest(word, known);
            wrong = near.empty() ? fmt::format("there is no kind {}", word)
                                 : fmt::format("there is no kind {}; did you mean {}?", word, near);
        }
    }
    const Kinds all{known.begin(), known.end()};
    if (wrong.empty()) return kinds.empty() ? all : kinds;
    Error error{Code::invalid, fmt::format("kinds: {}", wrong), "invalid"};
    error.fields.push_back({"kinds", wrong});
    error.help = fmt::format("Kinds are {}.", fmt::join(all, ", "));
    return std::unexpected(std::move(error));
}

// What the client names; nullopt: nothing. Errors: invalid.
Result<std::optional<TermMark>> mark_of(const api::Call& call, const api::WatchChanges& request) {
    const bool by_header = !call.last_event_id.empty();
    const std::string text = by_header ? call.last_event_id : request.from.value_or("");
    if (text.empty()) return std::nullopt;
    if (const auto mark = parse_term_mark(text)) return mark;
    const std::string name = by_header ? "Last-Event-ID" : "from";
    constexpr std::string_view why = "must be the id of an event of this stream, as 7-4711";
    Error error{Code::invalid, fmt::format("{}: {}", name, why), "invalid"};
    error.fields.push_back({name, std::string{why}});
    return std::unexpected(std::move(error));
}

api::ObjectChange view(const Notice& notice) {
    const Scope& at = notice.audience.scope;
    const auto if_any = [](const std::string& text) {
        return text.empty() ? std::nullopt : std::optional{text};
    };
    api::ObjectChange change{.kind = std::string{notice.kind}, .id = notice.id, .name = if_any(notice.name)};
    (at.kind == ScopeKind::provider ? change.provider : change.tenant_id) = if_any(at.tenant);
    change.project = if_any(at.project);
    switch (notice.what) {
        case Happened::added: change.change = api::ChangeMade::added; break;
        case Happened::changed: change.change = api::ChangeMade::changed; break;
        case Happened::removed: change.change = api::ChangeMade::removed; break;
    }
    return change;
}

// Several changes of one object, as one.
Happened together(Happened before, Happened after) {
    if (after == Happened::removed) return after;
    if (before == Happened::removed) return Happened::changed;  // Made again under the same id.
    return before == Happened::added ? before : after;
}

class ChangeWatch {
public:
    ChangeWatch(Term& term, api::Call call, Kinds kinds, api::Stream<api::ObjectChange>& to)
        : term_(term), call_(std::move(call)), kinds_(std::move(kinds)), to_(to) {}

    Task<> run(std::optional<TermMark> from) {
        at_ = {term_.epoch(), term_.changes().last()};
        if (from && from->epoch == at_.epoch && term_.changes().reaches_back_to(from->number))
            at_ = *from;
        else if (from)
            to_.add("reset", at_.text());
        to_.add("synced", at_.text());
        CO_TRY(co_await flush());
        while (true) {
            CO_TRY(co_await term_.changes().behind(at_.number));
            if (!term_.changes().reaches_back_to(at_.number)) {
                at_.number = term_.changes().last();
                to_.add("reset", at_.text());
                CO_TRY(co_await flush());
                continue;
            }
            const Instant now = term_.ports().timers.now();
            // Rights are looked up for changes that are told to this caller, and for changes of rights: not
            // at each change for everyone who watches.
            std::vector<Notice> notices = wanted();
            if (now - known_ >= check_time || are_rights_touched() || !notices.empty()) {
                CO_TRY(still_known(term_, call_.caller));
                known_ = now;
                notices = wanted();
            }
            if (tell(notices))
                CO_TRY(co_await flush());
            else if (term_.ports().timers.now() - flushed_ >= keep_alive_time)
                CO_TRY(co_await keep_alive());
        }
    }

private:
    bool are_rights_touched() const {
        const ChangeLog& log = term_.changes();
        for (std::uint64_t number = at_.number; number < end_of_walk();)
            if (std::ranges::count(rights_kinds, log.at(++number).kind) > 0) return true;
        return false;
    }
    std::uint64_t end_of_walk() const { return std::min(term_.changes().last(), at_.number + walked_max); }
    // Among the further changes, those that are to be told: each object once.
    std::vector<Notice> wanted() const {
        const ChangeLog& log = term_.changes();
        std::vector<Notice> told;
        std::map<std::pair<std::string_view, std::string>, std::size_t> places;
        for (std::uint64_t number = at_.number; number < end_of_walk();) {
            const Notice& notice = log.at(++number);
            if (!kinds_.contains(notice.kind)) continue;
            if (!may_know(call_.caller.principal, call_.caller.actor, notice)) continue;
            const auto [place, first] = places.try_emplace({notice.kind, notice.id}, told.size());
            if (first) {
                told.push_back(notice);
                continue;
            }
            Notice& before = told[place->second];
            const Happened what = together(before.what, notice.what);
            before = notice;
            before.what = what;
        }
        return told;
    }
    // Whether there was something.
    bool tell(const std::vector<Notice>& told) {
        at_.number = end_of_walk();
        // Only behind the last of them nothing is left out.
        for (const Notice& notice : told)
            to_.add("change", &notice == &told.back() ? at_.text() : "", view(notice));
        return !told.empty();
    }
    Task<> flush() {
        flushed_ = term_.ports().timers.now();
        return to_.flush();
    }
    Task<> keep_alive() {
        flushed_ = term_.ports().timers.now();
        return to_.keep_alive(at_.text());
    }

    Term& term_;
    api::Call call_;
    Kinds kinds_;
    api::Stream<api::ObjectChange>& to_;
    TermMark at_;
    Instant flushed_{};  // The last bytes went out,
    Instant known_{};    // and the credential was good.
};

}  // namespace

void add_watch(Api& service) {
    service.handlers().stream<api::ops::watch_changes>(
        [&service](api::Call call, api::WatchChanges request, api::Stream<api::ObjectChange>& to) -> Task<> {
            Kinds kinds = CO_TRY(kinds_of(request.kinds.value_or("")));
            const auto from = CO_TRY(mark_of(call, request));
            const TermPtr term = CO_TRY(service.leader());
            const WatchPlace place = CO_TRY(service.watches().enter(term->settings(), call.caller));
            ChangeWatch watch{*term, std::move(call), std::move(kinds), to};
            co_return co_await watch.run(from);
        });
}

}  // namespace hostler::master
