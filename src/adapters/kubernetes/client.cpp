#include "adapters/kubernetes/client.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "core/percent.h"

namespace hostler::kubernetes {

namespace {

std::string_view text_of(Propagation propagation) {
    switch (propagation) {
        case Propagation::background: return "Background";
        case Propagation::foreground: return "Foreground";
        case Propagation::orphan: return "Orphan";
    }
    broken("a propagation outside its enum", __FILE__, __LINE__);
}

Result<json::object> parse_answer(std::string_view body, const Ask& ask) {
    auto object = parse_object(body);
    if (!object)
        return fail(Code::unavailable,
                    fmt::format("{}: the API server's answer: {}", ask.label(), object.error().message));
    return object;
}

// A name that is empty or a step upwards would make the path that of something else.
Result<> check(const Kind& kind, const ObjectKey& key) {
    const auto wrong = [](std::string_view part) {
        return part == "." || part == ".." || part.contains('/');
    };
    if (key.name.empty() || wrong(key.name) || wrong(key.ns))
        return fail(Code::invalid, fmt::format("'{}' is no name of a {}", key.name, kind.name));
    if (kind.namespaced && key.ns.empty())
        return fail(Code::invalid, fmt::format("the {} {} needs a namespace", kind.name, key.name));
    return {};
}

}  // namespace

std::string query_of(const std::vector<std::pair<std::string_view, std::string>>& pairs) {
    std::string query;
    for (const auto& [name, value] : pairs)
        if (!value.empty())
            query += fmt::format("{}{}={}", query.empty() ? '?' : '&', name, percent_encode(value));
    return query;
}

Result<Page> parse_page(std::string_view body, const Ask& ask) {
    auto list = TRY(parse_answer(body, ask));
    auto* items = list.if_contains("items");
    if (!items || (!items->is_array() && !items->is_null()))
        return fail(Code::unavailable, fmt::format("{}: the API server's answer is no list", ask.label()));
    Page page{{},
              std::string{text_at(list, {"metadata", "resourceVersion"})},
              std::string{text_at(list, {"metadata", "continue"})}};
    if (items->is_null()) return page;
    page.objects.reserve(items->get_array().size());
    for (auto& item : items->get_array()) {
        if (!item.is_object())
            return fail(Code::unavailable, fmt::format("{}: an item of the list is no object", ask.label()));
        page.objects.push_back(std::move(item.get_object()));
    }
    return page;
}

ObjectKey key_of(const json::object& object) {
    return {std::string{text_at(object, {"metadata", "namespace"})},
            std::string{text_at(object, {"metadata", "name"})}};
}

Client::Client(Net& net, Timers& timers, Worker& worker, Access access, ConnectionSettings settings)
    : connection_(net, timers, worker, std::move(access), std::move(settings)) {}

Task<json::object> Client::get(Kind kind, ObjectKey key) {
    CO_TRY(check(kind, key));
    const Ask ask{.target = object_path(kind, key)};
    co_return parse_answer(CO_TRY(co_await connection_.fetch(ask)), ask);
}

Task<Page> Client::page(Kind kind, Selection which, std::string next, std::int64_t size) {
    const Ask ask{.target = collection_path(kind, which.ns) + query_of({{"limit", std::to_string(size)},
                                                                        {"labelSelector", which.labels},
                                                                        {"fieldSelector", which.fields},
                                                                        {"continue", std::move(next)}})};
    const auto body = CO_TRY(co_await connection_.fetch(ask));
    co_return parse_page(body, ask);
}

Task<Page> Client::list(Kind kind, Selection which, std::int64_t size, std::size_t objects_max) {
    Page all;
    for (int tries = 1;; ++tries) {
        all = {};
        while (true) {
            auto one = co_await page(kind, which, all.next, size);
            const bool again = !one && one.error().reason == expired && !all.next.empty();
            if (again && tries < list_tries_max) break;
            if (!one) co_return std::unexpected(std::move(one).error());
            all.objects.insert(all.objects.end(), std::make_move_iterator(one->objects.begin()),
                               std::make_move_iterator(one->objects.end()));
            all.resource_version = std::move(one->resource_version);
            all.next = std::move(one->next);
            if (all.objects.size() > objects_max)
                co_return fail(Code::exhausted,
                               fmt::format("there are more than {} {}", objects_max, kind.plural));
            if (all.next.empty()) co_return all;
        }
    }
}

Task<json::object> Client::apply(Kind kind, json::object object, ApplyOptions options) {
    const auto key = key_of(object);
    CO_TRY(check(kind, key));
    object["apiVersion"] = api_version(kind);
    object["kind"] = kind.name;
    if (auto* meta = object["metadata"].if_object()) meta->erase("managedFields");
    const Ask ask{.method = "PATCH",
                  .target = object_path(kind, key, options.subresource) +
                            query_of({{"fieldManager", options.field_manager},
                                      {"force", options.force ? "true" : ""},
                                      {"dryRun", options.dry_run ? "All" : ""}}),
                  .body = json::serialize(object),
                  .type = "application/apply-patch+yaml"};
    co_return parse_answer(CO_TRY(co_await connection_.fetch(ask)), ask);
}

Task<json::object> Client::patch_status(Kind kind, json::object object, ApplyOptions options) {
    options.subresource = "status";
    co_return co_await apply(kind, std::move(object), std::move(options));
}

Task<> Client::remove(Kind kind, ObjectKey key, RemoveOptions options) {
    CO_TRY(check(kind, key));
    json::object body{
        {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", text_of(options.propagation)}};
    json::object preconditions;
    if (!options.uid.empty()) preconditions["uid"] = options.uid;
    if (!options.resource_version.empty()) preconditions["resourceVersion"] = options.resource_version;
    if (!preconditions.empty()) body["preconditions"] = std::move(preconditions);
    if (options.grace_s) body["gracePeriodSeconds"] = *options.grace_s;
    CO_TRY(co_await connection_.fetch(
        {.method = "DELETE", .target = object_path(kind, key), .body = json::serialize(body)}));
    co_return Result<>{};
}

Task<> Client::evict(ObjectKey pod, std::string uid, std::optional<std::int64_t> grace_s) {
    CO_TRY(check(kinds::pod, pod));
    json::object options;
    if (!uid.empty()) options["preconditions"] = json::object{{"uid", uid}};
    if (grace_s) options["gracePeriodSeconds"] = *grace_s;
    const json::object body{{"apiVersion", "policy/v1"},
                            {"kind", "Eviction"},
                            {"metadata", json::object{{"name", pod.name}, {"namespace", pod.ns}}},
                            {"deleteOptions", std::move(options)}};
    CO_TRY(co_await connection_.fetch({.method = "POST",
                                       .target = object_path(kinds::pod, pod, "eviction"),
                                       .body = json::serialize(body)}));
    co_return Result<>{};
}

Task<json::object> Client::call(std::string method, std::string target, json::object body) {
    const Ask ask{.method = std::move(method),
                  .target = std::move(target),
                  .body = body.empty() ? "" : json::serialize(body)};
    co_return parse_answer(CO_TRY(co_await connection_.fetch(ask)), ask);
}

}  // namespace hostler::kubernetes
