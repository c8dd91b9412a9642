// The API's handlers: each operation of api/areas.def, decided on the estate of the present term.
#pragma once

#include <algorithm>
#include <memory>

#include "api/handlers.h"
#include "api/list_query.h"
#include "api/types_common.h"
#include "roles/master/http/audit.h"
#include "roles/master/http/denials.h"
#include "roles/master/http/gate.h"
#include "roles/master/http/watches.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

// Who leads at the moment.
struct Lead {
    TermPtr term;                    // This one, if it is there and has not ended.
    std::optional<Contender> other;  // Another master, for all that is known here.
    bool shared = false;             // There are others.
    bool damaged = false;            // The store has rows without which nobody can lead.
    bool soon = false;               // The store answers, and says that somebody leads or may begin to.
    Signal changed;                  // One of these.
};

class Api {
public:
    explicit Api(const Lead& lead);  // `lead` outlives it.
    const api::Handlers& handlers() const { return handlers_; }
    // Errors: unavailable (nobody leads at the moment).
    Result<TermPtr> leader() const;
    const Watches& watches() const { return watches_; }
    // A known caller may not do this: the audit has it, without anybody waiting for that.
    void refused(const api::Caller& caller, const RefusedCall& call, const Error& why) const;

    // ── For features, when they add their operations

    api::Handlers& handlers() { return handlers_; }
    Watches& watches() { return watches_; }

    // An operation that changes something: decided at once, answered when it is durable. `decide` is called
    // with the desk, the call and the request, and gives the response. A dry run is undone. The same
    // idempotency key again gets the first answer.
    template <const auto& operation, class Decide>
    void write(Decide decide) {
        using Op = std::remove_cvref_t<decltype(operation)>;
        handlers_.on<operation>(
            [this, decide](api::Call call, typename Op::Request request) -> Task<typename Op::Response> {
                return perform<Op>(decide, std::move(call), std::move(request));
            });
    }
    template <class Op, class Decide>
    Task<typename Op::Response> perform(Decide decide, api::Call call, typename Op::Request request);

    // An operation that only looks; what it saw is durable when it is answered.
    template <const auto& operation, class Look>
    void read(Look look) {
        using Op = std::remove_cvref_t<decltype(operation)>;
        handlers_.on<operation>(
            [this, look](api::Call call, typename Op::Request request) -> Task<typename Op::Response> {
                return answer_read<Op>(look, std::move(call), std::move(request));
            });
    }
    template <class Op, class Look>
    Task<typename Op::Response> answer_read(Look look, api::Call call, typename Op::Request request);

private:
    const Lead& lead_;
    api::Handlers handlers_;
    Watches watches_;
};

// The body of an answer that was given under this idempotency key before; nullopt: none. Errors: conflict
// (idempotency_key_reused).
Result<std::optional<std::string>> replay(const Desk& desk, const Digest& digest, const api::Call& call);
void remember_answer(Desk& desk, const Digest& digest, const api::Call& call, std::string body);

template <class Op, class Decide>
Task<typename Op::Response> Api::perform(Decide decide, api::Call call, typename Op::Request request) {
    using Response = typename Op::Response;
    const TermPtr term = CO_TRY(leader());
    Desk& desk = term->desk(call.caller.actor);
    if (call.dry_run) {
        const Estate::Trial trial{desk.estate};
        const Live::Trial seen{desk.live};
        co_return decide(desk, call, request);
    }
    const Digest& digest = term->ports().digest;
    if (const auto before = CO_TRY(replay(desk, digest, call))) {
        CO_TRY(co_await term->settled());
        co_return api::decode_stored<Response>(*before);
    }
    if (term->read_only()) co_return std::unexpected(*term->read_only());
    Subject was = subject_of(desk, call, request);
    Response response = CO_TRY(decide(desk, call, request));
    // A secret is told once and kept nowhere.
    constexpr bool secret = requires { response.secret; } || requires { response.token; } ||
                            requires { response.ticket; } || requires { response.recovery_codes; };
    if (!call.idempotency_key.empty())
        remember_answer(desk, digest, call, secret ? "" : api::encode<Response>(response));
    audit(desk, call, std::move(was), subject_after(desk, call, request, response));
    CO_TRY(co_await term->commit());
    co_return response;
}

template <class Op, class Look>
Task<typename Op::Response> Api::answer_read(Look look, api::Call call, typename Op::Request request) {
    const TermPtr term = CO_TRY(leader());
    auto response = CO_TRY(look(term->look(), call, request));
    CO_TRY(co_await term->settled());
    co_return response;
}

// A query is compared with the view of each row. Rows that one page looks at; a page at the bound may be
// short.
inline constexpr int queried_rows_max = 2000;
// Rows that are counted for a total; with more rows the list has no total.
inline constexpr std::ptrdiff_t counted_rows_max = 10'000;

// One page of what is in memory, in the order in which it was made or the other way round; the cursor is the
// last one's place.
template <class Row, class View>
struct Paging {
    std::vector<const Row*> rows;

    template <class Make>
    Result<api::List<View>> page(const api::Call& call, Make make) {
        const auto before = [&](const auto& a, const auto& b) { return call.newest_first ? b < a : a < b; };
        std::ranges::sort(rows, [&](const Row* a, const Row* b) { return before(place(*a), place(*b)); });
        const auto is_behind = [&](const Row& row) {
            return !call.after || before(std::pair(call.after->created, call.after->id), place(row));
        };
        if (!call.query.empty()) return queried(call, make, is_behind);
        api::List<View> list;
        if (call.total) list.total = std::ssize(rows);
        const Row* last = nullptr;
        for (const Row* row : rows) {
            if (!is_behind(*row)) continue;
            if (static_cast<int>(list.items.size()) == call.limit) {
                list.next_cursor = cursor(call, *last);
                break;
            }
            list.items.push_back(make(*row));
            last = row;
        }
        return list;
    }

private:
    // There is a next page when another one fits, or when that is not known.
    template <class Make, class Behind>
    api::List<View> queried(const api::Call& call, Make make, Behind is_behind) {
        api::List<View> list;
        if (call.total && std::ssize(rows) <= counted_rows_max) list.total = 0;
        const Row* last = nullptr;  // That this page has or has passed over.
        int looked_at = 0;
        for (const Row* row : rows) {
            const bool behind = is_behind(*row) && !list.next_cursor;
            if (!behind && !list.total) continue;
            if (!list.total && looked_at++ == queried_rows_max) {
                list.next_cursor = cursor(call, *last);
                break;
            }
            View shown = make(*row);
            const bool fits = api::lets_through(call.query, shown);
            if (fits && list.total) ++*list.total;
            if (!behind) continue;
            if (fits && static_cast<int>(list.items.size()) == call.limit) {
                list.next_cursor = cursor(call, *last);
                if (!list.total) break;
                continue;
            }
            if (fits) list.items.push_back(std::move(shown));
            last = row;
        }
        return list;
    }

    static std::string cursor(const api::Call& call, const Row& last) {
        return api::to_string({call.list, 0, last.meta.created, Kind<Row>::id(last)});
    }
    static std::pair<std::uint64_t, std::string> place(const Row& row) {
        return {row.meta.created, Kind<Row>::id(row)};
    }
};

// Everything of a table that `wanted` lets through.
template <class View, class Row, class Wanted>
Paging<Row, View> rows_of(const Table<Row>& table, Wanted wanted) {
    Paging<Row, View> paging;
    for (const auto& [id, row] : table.all())
        if (wanted(row)) paging.rows.push_back(&row);
    return paging;
}

}  // namespace hostler::master
