#include "roles/master/http/events_page.h"

#include <charconv>

#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

EventPlace place_of(const api::Cursor& cursor) {
    EventPlace place{.number = cursor.created};
    std::from_chars(cursor.id.data(), cursor.id.data() + cursor.id.size(), place.line);
    return place;
}

}  // namespace

Task<api::List<api::Event>> events_page(TermPtr term, api::Call call, EventQuery query, WallTime begin) {
    const auto limit = static_cast<std::size_t>(call.limit);
    query.limit = limit + 1;  // One more says whether there are older ones.
    if (call.after) query.before = place_of(*call.after);
    CO_TRY(co_await term->settled());
    std::vector<EventRecord> events = CO_TRY(co_await term->ports().store.events(std::move(query)));
    std::ranges::reverse(events);
    const bool more = events.size() > limit;
    if (more) events.resize(limit);
    api::List<api::Event> list;
    for (const EventRecord& event : events)
        if (event.time >= begin) list.items.push_back(view(event));
    if (!call.newest_first) std::ranges::reverse(list.items);
    // Older ones than those before `begin` are before it, too.
    if (more && call.newest_first && events.back().time >= begin)
        list.next_cursor =
            api::to_string({call.list, 0, events.back().number, std::to_string(events.back().line)});
    co_return list;
}

}  // namespace hostler::master
