#include "cli/settle.h"

#include <fmt/format.h>

#include "api/indent.h"
#include "api/operation_list.h"
#include "api/operations_cluster.h"
#include "api/operations_instance.h"
#include "api/operations_job.h"
#include "api/operations_price.h"
#include "api/operations_stock.h"
#include "cli/compare.h"
#include "cli/request.h"

namespace hostler::cli {

namespace {

const api::Schema& element(const api::Operation& list) {
    return *list.response().find("items")->schema->element;
}

// Those to set, and with an empty value those to take away.
json::object label_changes(const json::value& seen, const json::object& wanted) {
    json::object changes;
    const json::value* there = seen.is_object() ? seen.get_object().if_contains("labels") : nullptr;
    if (there && there->is_object())
        for (const auto& label : there->get_object())
            if (!wanted.contains(label.key())) changes[label.key()] = "";
    for (const auto& label : wanted) {
        const json::value* now =
            there && there->is_object() ? there->get_object().if_contains(label.key()) : nullptr;
        if (!now || *now != label.value()) changes[label.key()] = label.value();
    }
    return changes;
}

// What changes one of these; nullptr: nothing does.
const api::Operation* edit_of(std::string_view noun) {
    for (const api::Operation* one : api::operations())
        if (one->noun == noun && one->verb == "edit") return one;
    return nullptr;
}

}  // namespace

Task<> Settle::run(Item& item) {
    if (item.kind.create == &api::ops::create_stocks) co_return co_await stock(item);
    if (item.kind.create == &api::ops::set_price) co_return co_await price(item);
    if (item.kind.create == &api::ops::submit_job) co_return co_await job(item);
    const json::value seen = CO_TRY(co_await find(item));
    if (seen.is_null()) co_return co_await create(item);
    if (item.kind.create == &api::ops::create_instance) co_return co_await instance(item, seen);
    if (item.kind.create == &api::ops::create_cluster) co_return co_await cluster(item, seen);
    const auto same = compare(item, item.fields,
                              item.kind.get ? item.kind.get->response() : element(*item.kind.list), seen);
    if (!same && item.kind.replace) co_return co_await replace(item, same.error());
    CO_TRY(same);
    item.outcome = Outcome::unchanged;
    co_return Result<>{};
}

// What an instance was created with is not all shown: created again, it is the same or refused. Its labels
// alone can be made so; a file without any leaves them.
Task<> Settle::instance(Item& item, const json::value& seen) {
    json::object rest = item.fields, changes;
    if (const json::value* wanted = item.fields.if_contains("labels"); wanted && wanted->is_object())
        changes = label_changes(seen, wanted->get_object());
    rest.erase("labels");
    CO_TRY(compare(item, rest, item.kind.get->response(), seen));
    CO_TRY(co_await post(item, std::move(rest)));
    item.outcome = Outcome::unchanged;
    if (changes.empty()) co_return Result<>{};
    json::object update{{"instance", item.name}, {"labels", std::move(changes)}};
    if (const json::value* tenant = item.fields.if_contains("tenantID")) update["tenantID"] = *tenant;
    item.answer = CO_TRY(co_await send(place_fields(api::ops::update_instance, std::move(update))));
    item.outcome = Outcome::updated;
    item.message = "its labels";
    co_return Result<>{};
}

Task<> Settle::create(Item& item) {
    item.answer = CO_TRY(co_await post(item, item.fields));
    item.outcome = Outcome::created;
    co_return Result<>{};
}

Task<> Settle::replace(Item& item, Error differs) {
    json::object fields = item.fields;
    fields.erase(item.kind.create->argument);
    for (const api::Property& property : item.kind.replace->request().properties)
        if (api::place_of(*item.kind.replace, property) == api::Place::path)
            fields[property.name] = item.name;
    item.answer = CO_TRY(co_await send(place_fields(*item.kind.replace, std::move(fields))));
    item.outcome = Outcome::updated;
    item.message = std::move(differs.message);
    co_return Result<>{};
}

Task<json::value> Settle::post(const Item& item, json::object fields) {
    return send(place_fields(*item.kind.create, std::move(fields)));
}

Task<json::value> Settle::send(ApiCall call) {
    if (dry_run_) call.query.emplace_back("dryRun", "true");
    return client_.call(std::move(call));
}

// null: it is not there.
Task<json::value> Settle::find(const Item& item) {
    if (!item.kind.get) return find_in_list(item);
    json::object named;
    for (const api::Property& property : item.kind.get->request().properties) {
        const json::value* own = item.fields.if_contains(property.name);
        if (api::place_of(*item.kind.get, property) == api::Place::path)
            named[property.name] = item.name;
        else if (own)
            named[property.name] = *own;
    }
    return look(place_fields(*item.kind.get, std::move(named)));
}

Task<json::value> Settle::look(ApiCall call) {
    auto seen = co_await client_.call(std::move(call));
    if (!seen && seen.error().code == Code::not_found) co_return json::value{};
    co_return seen;
}

// What has no page of its own is told by its name, its tenant, and that it has not expired.
Task<json::value> Settle::find_in_list(const Item& item) {
    HOSTLER_ASSERT(item.kind.list);
    co_return co_await find_in_pages(*item.kind.list, [&](const json::value& one) {
        const auto expires = parse_rfc3339(text_of(one, "expiresAt"));
        return !(expires && *expires <= world_.timers.wall()) &&
               text_of(one, item.kind.create->argument) == item.name &&
               text_of(one, "tenantID") == text_of(item.fields, "tenantID");
    });
}

Task<json::value> Settle::find_in_pages(const api::Operation& list,
                                        std::function<bool(const json::value&)> so) {
    std::string cursor;
    for (std::size_t page = 0; page < pages_max; ++page) {
        ApiCall call{.operation = &list, .query = {{"limit", "1000"}}};
        if (!cursor.empty()) call.query.emplace_back("cursor", cursor);
        const json::value answer = CO_TRY(co_await client_.call(std::move(call)));
        const json::value* items = answer.is_object() ? answer.get_object().if_contains("items") : nullptr;
        if (!items || !items->is_array())
            co_return fail(Code::internal, "the API's list has no items", "not_our_api");
        for (const json::value& one : items->get_array())
            if (so(one)) co_return one;
        cursor = text_of(answer, "nextCursor");
        if (cursor.empty()) break;
    }
    co_return json::value{};
}

Result<> Settle::compare(const Item& item, const json::object& fields, const api::Schema& schema,
                         const json::value& seen) {
    const auto different = differences(item.kind.create->request(), schema, fields, seen);
    if (different.empty()) return {};
    std::vector<std::string> words;
    for (const Difference& one : different)
        words.push_back(fmt::format("{} ({} there, {} in the file)", one.field, one.there, one.wanted));
    Error error{.code = Code::conflict,
                .message = fmt::format("it exists and differs in: {}", fmt::join(words, ", ")),
                .reason = "differs"};
    error.help = fmt::format("a {} cannot be changed: take another name, or delete it first", item.noun);
    if (item.kind.create == &api::ops::submit_job)
        error.help = fmt::format(
            "a job is not changed after it was submitted: take another name, or cancel it first: hostler job "
            "cancel {}",
            item.name);
    if (const api::Operation* edit = edit_of(item.noun))
        error.help = fmt::format("change it by: hostler {} {} {}", edit->noun, edit->verb, item.name);
    if (item.noun == "volume" && different.size() == 1 && different[0].field == "size")
        error.help = fmt::format("volumes grow by: hostler volume resize {} --size {}", item.name,
                                 different[0].wanted);
    return std::unexpected(std::move(error));
}

// A price is known by what it is for; what holds for just that gives way.
Task<> Settle::price(Item& item) {
    const json::value now = CO_TRY(co_await find_price(item));
    // "2.5", 2.50 and "2.500" are the same sum.
    const auto amount = [](const json::value& of) {
        std::string text = of.is_string()   ? std::string(of.get_string())
                           : of.is_double() ? api::plain_number(of.get_double())
                                            : json::serialize(of);
        if (!text.contains('.')) return text;
        while (text.ends_with('0')) text.pop_back();
        if (text.ends_with('.')) text.pop_back();
        return text;
    };
    const std::string currency = text_of(item.fields, "currency");
    if (!now.is_null() && amount(now.at("amount")) == amount(item.fields.at("amount")) &&
        (currency.empty() || currency == text_of(now, "currency"))) {
        item.outcome = Outcome::unchanged;
        co_return Result<>{};
    }
    json::object fields = item.fields;
    fields["ifVersion"] = now.is_null() ? json::value(0) : now.at("version");
    item.answer = CO_TRY(co_await post(item, std::move(fields)));
    item.outcome = now.is_null() ? Outcome::created : Outcome::updated;
    if (!now.is_null())
        item.message =
            fmt::format("{} {}, was {} {}", text_of(item.answer, "amount"), text_of(item.answer, "currency"),
                        text_of(now, "amount"), text_of(now, "currency"));
    co_return Result<>{};
}

// null: there is none for just these.
Task<json::value> Settle::find_price(const Item& item) {
    co_return co_await find_in_pages(api::ops::list_prices, [&](const json::value& one) {
        const auto same = [&](const char* field) {
            return text_of(one, field) == text_of(item.fields, field);
        };
        return one.is_object() && one.get_object().contains("amount") &&
               one.get_object().contains("version") && same("gpuType") && same("zone") && same("trust") &&
               same("isolation");
    });
}

}  // namespace hostler::cli
