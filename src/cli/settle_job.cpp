// Jobs of `hostler apply`: one that is over is submitted again under its name, one that is not stays as it
// is.
#include <fmt/format.h>

#include "api/operations_job.h"
#include "cli/settle.h"

namespace hostler::cli {

namespace {

bool is_over(const json::value& job) {
    const std::string state = text_of(job, "state");
    return state == "succeeded" || state == "failed" || state == "cancelled";
}

// As the API fills what is left out.
json::object with_when(json::object fields) {
    json::value* after = fields.if_contains("after");
    if (after && after->is_array())
        for (json::value& one : after->get_array())
            if (one.is_object() && !one.get_object().contains("when")) one.get_object()["when"] = "succeeded";
    return fields;
}

}  // namespace

Task<> Settle::job(Item& item) {
    json::value seen = CO_TRY(co_await find_job(item));
    if (!seen.is_null()) {
        CO_TRY(co_await name_dependencies(item, seen));
        CO_TRY(compare(item, with_when(item.fields), item.kind.get->response(), seen));
        item.outcome = Outcome::unchanged;
        item.message = fmt::format("it is {}", text_of(seen, "state"));
        co_return Result<>{};
    }
    co_return co_await create(item);
}

// The one of this name in the project that is not over; null: none is.
Task<json::value> Settle::find_job(const Item& item) {
    std::string project = text_of(item.fields, "project");
    if (project.empty()) project = "default";
    ApiCall call{.operation = &api::ops::list_jobs,
                 .query = {{"project", project}, {"query", "name=" + item.name}, {"limit", "1000"}}};
    if (const auto tenant = text_of(item.fields, "tenantID"); !tenant.empty())
        call.query.emplace_back("tenantID", tenant);
    for (std::size_t page = 0; page < pages_max; ++page) {
        const json::value answer = CO_TRY(co_await client_.call(call));
        const json::value* items = answer.is_object() ? answer.get_object().if_contains("items") : nullptr;
        if (!items || !items->is_array())
            co_return fail(Code::internal, "the API's list has no items", "not_our_api");
        for (const json::value& one : items->get_array())
            if (text_of(one, "name") == item.name && !is_over(one)) co_return one;
        const std::string next = text_of(answer, "nextCursor");
        if (next.empty()) break;
        std::erase_if(call.query, [](const auto& one) { return one.first == "cursor"; });
        call.query.emplace_back("cursor", next);
    }
    co_return json::value{};
}

// The API shows jobs that are waited for by their ids; a file may name them.
Task<> Settle::name_dependencies(const Item& item, json::value& seen) {
    const json::value* wanted = item.fields.if_contains("after");
    json::value* after = seen.get_object().if_contains("after");
    if (!wanted || !wanted->is_array() || !after || !after->is_array()) co_return Result<>{};
    const auto is_wanted = [&](const std::string& id) {
        return std::ranges::any_of(wanted->get_array(),
                                   [&](const json::value& one) { return text_of(one, "job") == id; });
    };
    for (json::value& one : after->get_array()) {
        const std::string id = text_of(one, "job");
        if (is_wanted(id) || !one.is_object()) continue;
        const json::value job =
            CO_TRY(co_await look({.operation = &api::ops::get_job, .params = {{"job", id}}}));
        if (!job.is_null()) one.get_object()["job"] = text_of(job, "name");
    }
    co_return Result<>{};
}

}  // namespace hostler::cli
