// Stock: as many slots as the file says, with the images and the policy that it names.
#include <fmt/format.h>

#include <set>

#include "api/operations_spec.h"
#include "api/operations_stock.h"
#include "cli/compare.h"
#include "cli/request.h"
#include "cli/settle.h"
#include "core/counted.h"

namespace hostler::cli {

namespace {

std::int64_t wanted_of(const json::value& stock, std::string_view zone) {
    const auto wanted = [](const json::value& of) -> std::int64_t {
        const json::value* value = of.is_object() ? of.get_object().if_contains("wanted") : nullptr;
        return value && value->is_int64() ? value->get_int64() : 0;
    };
    if (zone.empty()) return wanted(stock);
    const json::value* zones = stock.is_object() ? stock.get_object().if_contains("zones") : nullptr;
    if (zones && zones->is_array())
        for (const json::value& one : zones->get_array())
            if (text_of(one, "zone") == zone) return wanted(one);
    return 0;
}

void note(Item& item, std::string_view change) {
    if (item.outcome == Outcome::unchanged) item.outcome = Outcome::updated;
    item.message += fmt::format("{}{}", item.message.empty() ? "" : "; ", change);
}

}  // namespace

// The slots first: they make the spec that the rest is said of.
Task<> Settle::stock(Item& item) {
    const auto spec =
        CO_TRY(co_await look({.operation = &api::ops::get_spec, .params = {{"spec", item.name}}}));
    const ApiCall seen{.operation = &api::ops::get_stock, .params = {{"spec", item.name}}};
    json::value stock = CO_TRY(co_await look(seen));
    if (spec.is_null() || stock.is_null()) {
        item.fields["ifWanted"] = 0;
        CO_TRY(co_await create(item));
        if (dry_run_ || (!item.images && !item.policy)) co_return Result<>{};
        stock = CO_TRY(co_await look(seen));
    } else {
        CO_TRY(compare(item, item.fields, api::ops::get_spec.response(), spec));
        CO_TRY(co_await slots(item, stock));
    }
    CO_TRY(co_await images(item, stock));
    co_return co_await policy(item, stock);
}

// As many as the file says, of the zone that it names or of all together.
Task<> Settle::slots(Item& item, const json::value& stock) {
    const std::int64_t there = wanted_of(stock, text_of(item.fields, "zone"));
    const std::int64_t wanted = item.fields["number"].to_number<std::int64_t>();
    item.outcome = there == wanted ? Outcome::unchanged : Outcome::updated;
    if (there == wanted) co_return Result<>{};
    item.message = fmt::format("{}, were {}", counted(wanted, "slot"), there);
    json::object change{{"specName", item.name}, {"number", std::abs(wanted - there)}};
    change["ifWanted"] = there;  // Whoever applies the same at this moment is told, not doubled.
    if (const json::value* zone = item.fields.if_contains("zone")) change["zone"] = *zone;
    const api::Operation& operation = wanted > there ? *item.kind.create : *item.kind.remove;
    CO_TRY(co_await send(place_fields(operation, std::move(change))));
    co_return Result<>{};
}

// The order of the lists says nothing.
Task<> Settle::images(Item& item, const json::value& stock) {
    if (!item.images) co_return Result<>{};
    std::set<std::pair<std::string, bool>> is, wanted;
    const json::value* there = stock.is_object() ? stock.get_object().if_contains("images") : nullptr;
    for (const json::value& one : there && there->is_array() ? there->get_array() : json::array{}) {
        const auto of = text_of(one, "template");
        is.emplace(of.empty() ? text_of(one, "image") : of, !of.empty());
    }
    for (const char* field : {"images", "templates"})
        if (const json::value* list = item.images->if_contains(field))
            for (const json::value& one : list->get_array())
                wanted.emplace(std::string(one.get_string()), field == std::string_view{"templates"});
    if (is == wanted) co_return Result<>{};
    CO_TRY(co_await send(place_fields(api::ops::prepare_stock, *item.images)));
    note(item, fmt::format("{} in advance, were {}", counted(wanted.size(), "image"), is.size()));
    co_return Result<>{};
}

Task<> Settle::policy(Item& item, const json::value& stock) {
    if (!item.policy) co_return Result<>{};
    const auto different =
        differences(api::ops::update_stock.request(), api::ops::update_stock.response(), *item.policy, stock);
    if (different.empty()) co_return Result<>{};
    CO_TRY(co_await send(place_fields(api::ops::update_stock, *item.policy)));
    for (const Difference& one : different)
        note(item, fmt::format("{} {}, was {}", one.field, one.wanted, one.there));
    co_return Result<>{};
}

}  // namespace hostler::cli
