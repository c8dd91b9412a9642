#include <fmt/format.h>

#include "api/operations_instance.h"
#include "roles/master/http/api.h"
#include "roles/master/http/caller.h"
#include "roles/master/http/events_page.h"
#include "roles/master/http/lookup.h"
#include "roles/master/instance/archive.h"
#include "roles/master/instance/explain.h"
#include "roles/master/instance/logs.h"
#include "roles/master/instance/view.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

struct Asked {
    const api::Call& call;
    api::ListInstances request;
    std::string tenant;  // Empty: of all.
    LabelFilter labels;
};

Result<Asked> asked_for(const api::Call& call, api::ListInstances request) {
    std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    LabelFilter labels = filter_of(request.label);
    return Asked{call, std::move(request), std::move(tenant), std::move(labels)};
}

bool wanted(const Desk& desk, const Instance& instance, const Asked& asked) {
    const api::ListInstances& request = asked.request;
    if (!asked.tenant.empty() && instance.tenant != asked.tenant) return false;
    if (request.project && instance.project != *request.project) return false;
    if (!may(asked.call, scope_of(instance))) return false;
    if (!asked.labels.fits(instance.labels)) return false;
    if (request.owner && (!instance.owner || (*request.owner != instance.owner->kind &&
                                              *request.owner != instance.owner->path())))
        return false;
    if (request.instance && instance.id != *request.instance &&
        (instance.caller_id != *request.instance || instance.name_passed_on))
        return false;
    if (request.zone && instance.zone != *request.zone) return false;
    if (request.host && instance.host != *request.host) return false;
    if (request.spec_name && instance.spec_name != *request.spec_name) return false;
    if (!request.all && is_final(instance.phase) && !is_answered_for(desk, instance)) return false;
    if (request.state) return view(desk, instance).state == *request.state;
    return request.all || request.instance || !is_final(instance.phase);
}

// Those in memory.
std::vector<const Instance*> wanted_of(const Desk& desk, const Asked& asked) {
    const auto& table = desk.estate.instances;
    std::vector<const Instance*> rows;
    if (asked.request.owner) {
        rows = table.by().owner.of({asked.tenant, *asked.request.owner});
        std::erase_if(rows, [&](const Instance* row) { return !wanted(desk, *row, asked); });
        return rows;
    }
    for (const auto& [id, row] : table.all())
        if (wanted(desk, row, asked)) rows.push_back(&row);
    return rows;
}

// Whether some that it asks for may be in the archive alone.
bool asks_for_ended(const api::ListInstances& request) {
    using enum api::InstanceState;
    return request.all || (request.state &&
                           (*request.state == stopped || *request.state == failed || *request.state == lost));
}

// The store has them in the order in which they were made, and does not count.
Result<> check_plain(const api::Call& call) {
    Error error{Code::invalid, "a list with ended instances has the oldest first, and no total", "invalid"};
    if (call.newest_first)
        error.fields.push_back({"order", "must be created in a list with ended instances"});
    if (call.total) error.fields.push_back({"total", "must be false in a list with ended instances"});
    if (error.fields.empty()) return {};
    error.help = "Leave out all=true, or ask for a state of instances that live.";
    return std::unexpected(std::move(error));
}

// The one that is named, wherever it is.
Task<api::List<api::Instance>> list_named(TermPtr term, api::Call call, Asked asked) {
    api::List<api::Instance> list;
    const auto add = [&](const Instance& instance) {
        api::Instance shown = view(term->look(), instance, call.caller);
        if (api::lets_through(call.query, shown)) list.items.push_back(std::move(shown));
    };
    const std::vector<const Instance*> rows = wanted_of(term->look(), asked);
    for (const Instance* instance : rows) add(*instance);
    if (rows.empty()) {
        const auto ended =
            CO_TRY(co_await archived_instance(term, call, *asked.request.instance, asked.request.tenant_id));
        if (ended && wanted(term->look(), *ended, asked)) add(*ended);
    }
    CO_TRY(co_await term->settled());
    if (call.total) list.total = std::ssize(list.items);
    co_return list;
}

// Where a list over the store goes on: it was begun at commit `at`.
std::string cursor_of(const api::Call& call, std::uint64_t at, const Object& last) {
    return api::to_string({call.list, at, last.created, last.id});
}

// Living and ended alike, from the store; of those in memory what memory knows.
Task<api::List<api::Instance>> list_all(TermPtr term, api::Call call, Asked asked) {
    constexpr int reads_max = 16;  // Of the store for one page of the list, which may so be short, or empty.
    ListQuery query{.kind = std::string{Kind<Instance>::name}, .limit = static_cast<std::size_t>(call.limit)};
    if (!asked.tenant.empty()) query.tenant = asked.tenant;
    if (call.after) {
        query.at = call.after->at;
        query.after_created = call.after->created;
        query.after_id = call.after->id;
    }
    CO_TRY(co_await term->settled());
    api::List<api::Instance> list;
    for (int reads = 0; reads < reads_max; ++reads) {
        const Page page = CO_TRY(co_await term->ports().store.list(query));
        query.at = page.at;
        for (std::size_t i = 0; i < page.objects.size(); ++i) {
            const Object& object = page.objects[i];
            query.after_created = object.created;
            query.after_id = object.id;
            const Desk& desk = term->look();
            Instance stored;
            const Instance* instance = desk.estate.instances.find(object.id);
            if (!instance) {
                stored = CO_TRY(instance_of(object));
                instance = &stored;
            }
            if (!wanted(desk, *instance, asked)) continue;
            api::Instance shown = view(desk, *instance, call.caller);
            if (!api::lets_through(call.query, shown)) continue;
            list.items.push_back(std::move(shown));
            if (static_cast<int>(list.items.size()) < call.limit) continue;
            if (page.more || i + 1 < page.objects.size()) list.next_cursor = cursor_of(call, page.at, object);
            co_return list;
        }
        if (!page.more) co_return list;
        if (reads + 1 == reads_max) list.next_cursor = cursor_of(call, page.at, page.objects.back());
    }
    co_return list;
}

}  // namespace

void add_instance_reads(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::list_instances>(
        [&service](api::Call call, api::ListInstances request) -> Task<api::List<api::Instance>> {
            Asked asked = CO_TRY(asked_for(call, std::move(request)));
            const TermPtr term = CO_TRY(service.leader());
            if (asked.request.instance) co_return co_await list_named(term, call, std::move(asked));
            if (asks_for_ended(asked.request)) CO_TRY(check_plain(call));
            if (asks_for_ended(asked.request)) co_return co_await list_all(term, call, std::move(asked));
            const Desk& desk = term->look();
            Paging<Instance, api::Instance> paging{wanted_of(desk, asked)};
            auto list =
                CO_TRY(paging.page(call, [&](const Instance& row) { return view(desk, row, call.caller); }));
            CO_TRY(co_await term->settled());
            co_return list;
        });
    service.handlers().watch<ops::list_instances>([&service](api::Call call, api::ListInstances request,
                                                             api::Watch<api::Instance>& to) -> Task<> {
        Asked asked = CO_TRY(asked_for(call, std::move(request)));
        const TermPtr term = CO_TRY(service.leader());
        const WatchPlace place = CO_TRY(service.watches().enter(term->settings(), call.caller));
        const auto add = [&call](std::vector<api::Instance>& to, api::Instance shown) {
            if (api::lets_through(call.query, shown)) to.push_back(std::move(shown));
        };
        const std::string kind{Kind<Instance>::name};
        Feed::Place at = term->feed().end(kind);
        if (call.resume != 0) {
            at = CO_TRY(term->feed().behind(kind, call.resume));
        } else {
            std::vector<api::Instance> first;
            for (const Instance* instance : wanted_of(term->look(), asked))
                add(first, view(term->look(), *instance, call.caller));
            // Memory moves before the store: what was seen is told once it is durable.
            CO_TRY(co_await term->settled());
            // Whoever is cut among these begins anew: none of them has an id.
            for (api::Instance& instance : first)
                CO_TRY(co_await to.send(0, api::Change::added, std::move(instance)));
        }
        CO_TRY(co_await to.synced(at.commit));
        std::uint64_t told = at.commit;
        asked.request.all = true;  // A watch also reports instances that end.
        while (true) {
            const auto news = CO_TRY(co_await term->feed().next(kind, at));
            at = news.place;
            CO_TRY(still_known(*term, call.caller));
            std::vector<api::Instance> changed;
            std::vector<std::string> left_memory;
            for (const std::string& id : news.ids) {
                const Instance* instance = term->look().estate.instances.find(id);
                if (!instance) left_memory.push_back(id);
                if (instance && wanted(term->look(), *instance, asked))
                    add(changed, view(term->look(), *instance, call.caller));
            }
            CO_TRY(co_await term->settled());
            for (const std::string& id : left_memory) {
                const auto object = co_await term->ports().store.find(std::string{Kind<Instance>::name}, id);
                CO_TRY(co_await check_cancelled());
                const auto ended =
                    object ? instance_of(*object) : Result<Instance>{std::unexpected(object.error())};
                if (ended && wanted(term->look(), *ended, asked))
                    add(changed, view(term->look(), *ended, call.caller));
            }
            // Only the last event of a commit lets the client go on behind that commit.
            for (api::Instance& instance : changed) {
                const bool whole = &instance == &changed.back() && at.commit > told;
                CO_TRY(co_await to.send(whole ? at.commit : 0, api::Change::changed, std::move(instance)));
                if (whole) told = at.commit;
            }
            if (news.ids.empty()) CO_TRY(co_await to.keep_alive(told = at.commit));
        }
    });
    service.handlers().on<ops::get_instance>(
        [&service](api::Call call, api::GetInstance request) -> Task<api::Instance> {
            const TermPtr term = CO_TRY(service.leader());
            const Instance instance =
                CO_TRY(co_await instance_anywhere(term, call, request.instance, request.tenant_id));
            api::Instance shown = view(term->look(), instance, call.caller);
            CO_TRY(co_await term->settled());
            co_return shown;
        });
    service.handlers().on<ops::explain_instance>(
        [&service](api::Call call, api::GetInstance request) -> Task<api::Explanation> {
            const TermPtr term = CO_TRY(service.leader());
            const Instance instance =
                CO_TRY(co_await instance_anywhere(term, call, request.instance, request.tenant_id));
            api::Explanation why = explain_instance(term->look(), instance);
            CO_TRY(co_await term->settled());
            co_return why;
        });
    service.handlers().on<ops::get_instance_logs>(
        [&service](api::Call call, api::GetLogs request) -> Task<api::Logs> {
            const TermPtr term = CO_TRY(service.leader());
            const Instance instance =
                CO_TRY(co_await instance_anywhere(term, call, request.instance, request.tenant_id));
            co_return co_await fetch_logs(term, instance, std::move(request));
        });
    service.handlers().on<ops::list_instance_events>(
        [&service](api::Call call, api::GetInstance request) -> Task<api::List<api::Event>> {
            const TermPtr term = CO_TRY(service.leader());
            const Instance instance =
                CO_TRY(co_await instance_anywhere(term, call, request.instance, request.tenant_id));
            co_return co_await events_page(term, std::move(call), {.kind = "instance", .id = instance.id});
        });
}

}  // namespace hostler::master
