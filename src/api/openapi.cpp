#include "api/openapi.h"

#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "api/codec.h"
#include "api/indent.h"
#include "api/list_query.h"
#include "api/operation_list.h"
#include "api/problem.h"
#include "api/router.h"

namespace hostler::api {

namespace {

namespace json = boost::json;

std::string_view type_of(Kind kind) {
    switch (kind) {
        case Kind::boolean: return "boolean";
        case Kind::integer: return "integer";
        case Kind::number: return "number";
        case Kind::text:
        case Kind::time:
        case Kind::enumeration: return "string";
        case Kind::list: return "array";
        case Kind::map:
        case Kind::object: return "object";
    }
    broken("a kind outside its enum", __FILE__, __LINE__);
}

json::value literal(const Schema& schema, std::string_view text) {
    if (type_of(schema.kind) == "string") return json::string(text);
    return parse_json(text).value_or(json::string(text));
}

// As parse_cursor() takes it.
constexpr std::string_view cursor_pattern = R"(^[0-9a-f]{1,16}\.[0-9a-f]{1,16}\.[0-9a-f]{1,16}\..+$)";
constexpr int cursor_max = 1024;

json::object of_fields(std::initializer_list<std::string_view> names) {
    json::array required;
    for (const std::string_view name : names) required.push_back(json::string(name));
    return {{"required", std::move(required)}};
}

// A text or list that is there and has something in it.
json::object filled(std::string_view name, std::string_view least = "minLength") {
    json::object made = of_fields({name});
    made["properties"] = json::object{{name, json::object{{least, 1}}}};
    return made;
}

json::object none_of(std::initializer_list<json::object> schemas) {
    return {{"not", json::object{{"anyOf", json::array(schemas.begin(), schemas.end())}}}};
}

// What a task asks for: something, and its GPUs in one way.
json::array rules_of_a_task() {
    json::array something;
    for (const char* name : {"specName", "gpus", "gpuMilli", "profile", "cpu", "memory", "disk"})
        something.push_back(of_fields({name}));
    return {json::object{{"anyOf", std::move(something)}},
            none_of({of_fields({"gpus", "gpuMilli"}), of_fields({"gpus", "profile"}),
                     of_fields({"gpuMilli", "profile"})})};
}

// As Rules<T>::check says it of this schema, all of them to be met; empty: there are none.
json::array rules_between_fields(std::string_view schema) {
    if (schema == "CreateInstance")
        return {json::object{{"anyOf", json::array{filled("image"), filled("templateName")}}},
                json::object{{"if", filled("parameters", "minItems")}, {"then", filled("templateName")}}};
    if (schema == "CreateApiKey") {
        json::object of_operator = of_fields({"isOperator"});
        of_operator["properties"] = json::object{{"isOperator", json::object{{"const", true}}}};
        of_operator["not"] = of_fields({"tenantID"});
        json::object of_tenant = of_fields({"tenantID"});
        of_tenant["properties"] = json::object{{"isOperator", json::object{{"const", false}}}};
        return {json::object{{"oneOf", json::array{std::move(of_operator), std::move(of_tenant)}}}};
    }
    if (schema == "Placement") {
        json::object needs{{"withinKm", json::array{"near"}}};
        for (const char* name : {"apart", "spread", "pack"}) needs[name] = json::array{"group"};
        return {json::object{{"dependentRequired", std::move(needs)}},
                none_of({of_fields({"spread", "pack"})})};
    }
    if (schema == "PlacementTask") return rules_of_a_task();
    if (schema == "ExplainPlacement") {
        json::array alone;
        for (const char* name :
             {"specName", "gpus", "gpuMilli", "profile", "cpu", "memory", "disk", "image", "placement"})
            alone.push_back(of_fields({name}));
        json::object many = filled("tasks", "minItems");
        many["not"] = json::object{{"anyOf", std::move(alone)}};
        json::object one{{"properties", json::object{{"tasks", json::object{{"maxItems", 0}}}}},
                         {"allOf", rules_of_a_task()}};
        return {json::object{{"oneOf", json::array{std::move(one), std::move(many)}}}};
    }
    return {};
}

void add_rules(std::string_view name, json::object& schema) {
    if (json::array rules = rules_between_fields(name); !rules.empty()) schema["allOf"] = std::move(rules);
}

class Document {
public:
    json::object make() {
        json::object paths;
        for (const Operation* operation : operations()) {
            json::value& path = paths[operation->path];
            if (path.is_null()) path = json::object{};
            std::string method{name(operation->method)};
            for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
            path.get_object()[method] = describe(*operation);
        }
        define(schema_of<Problem>());
        paths["/v1/backup"] = json::object{{"get", backup()}};
        return {
            {"openapi", "3.1.0"},
            {"info",
             {{"title", "Hostler"},
              {"version", "1"},
              {"summary", "GPU machines, wherever they stand, as one multi-tenant GPU cloud."},
              {"description",
               "In the body of a request, null stands for a field that is left out, where it may be."},
              {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
            {"servers", json::array{json::object{{"url", "/"}}}},
            // Either of them is enough.
            {"security",
             json::array{json::object{{"key", json::array{}}}, json::object{{"keyHeader", json::array{}}}}},
            {"tags", tags()},
            {"paths", std::move(paths)},
            {"components",
             {{"schemas", std::move(schemas_)},
              {"responses",
               {{"problem",
                 {{"description", "An error, with every wrong field of the request."},
                  {"content", {{problem_type, {{"schema", reference(schema_of<Problem>())}}}}}}}}},
              {"securitySchemes",
               {{"key",
                 {{"type", "http"},
                  {"scheme", "bearer"},
                  {"description", "An API key, as Authorization: Bearer KEY."}}},
                {"keyHeader",
                 {{"type", "apiKey"},
                  {"in", "header"},
                  {"name", "X-Hostler-Key"},
                  {"description", "The same in a separate header, which precedes Authorization."}}}}}}},
        };
    }

private:
    static json::array tags() {
        json::array out;
        for (const Noun& noun : nouns()) out.push_back({{"name", noun.name}, {"description", noun.help}});
        return out;
    }

    static json::object reference(const Schema& schema) {
        return {{"$ref", "#/components/schemas/" + schema.name}};
    }

    json::object describe(const Operation& operation) {
        const Schema& request = operation.request();
        json::array parameters;
        json::object body;
        json::array required;
        for (const Property& property : request.properties) {
            const Place place = place_of(operation, property);
            if (place != Place::body) parameters.push_back(parameter(property, place));
            if (place != Place::body && place != Place::body_or_query) continue;
            body[property.name] = of(property);
            if (property.required && place == Place::body) required.push_back(json::string(property.name));
        }
        for (const CommonParameter& common : common_parameters())
            if (common.applies(operation)) parameters.push_back(parameter(operation, common));
        if (keeps_answer(operation)) parameters.push_back(idempotency_key());
        if (request.find("ifVersion")) parameters.push_back(if_match());
        if (operation.watch || operation.stream) parameters.push_back(last_event_id());

        json::object out{{"operationId", operation.name},
                         {"summary", operation.help},
                         {"tags", json::array{json::string(operation.noun)}},
                         {"x-permission", name_of(operation.permission)},
                         {"x-scope", name_of(row_of(operation.permission).level)}};
        if (operation.open) out["security"] = json::array{};
        if (!parameters.empty()) out["parameters"] = std::move(parameters);
        if (!body.empty()) {
            json::object schema{
                {"type", "object"}, {"properties", std::move(body)}, {"additionalProperties", false}};
            if (!required.empty()) schema["required"] = std::move(required);
            add_rules(request.name, schema);
            schemas_[request.name] = std::move(schema);
            out["requestBody"] =
                json::object{{"required", operation.body != Body::or_query},
                             {"content", {{"application/json", {{"schema", reference(request)}}}}}};
        }
        out["responses"] = responses(operation);
        return out;
    }

    json::object responses(const Operation& operation) {
        define(operation.response());
        json::object content;
        if (!operation.stream)
            content["application/json"] = json::object{{"schema", reference(operation.response())}};
        if (operation.watch) content["text/event-stream"] = events_of_list(operation);
        if (operation.stream) content["text/event-stream"] = events_of_stream(operation);
        const std::string_view what = operation.status == 202 ? "Begun: ask for the operation until it ends."
                                      : operation.status == 201 ? "Created."
                                                                : "Done.";
        json::object out{
            {std::to_string(operation.status), {{"description", what}, {"content", std::move(content)}}}};
        out["default"] = json::object{{"$ref", "#/components/responses/problem"}};
        return out;
    }

    // OpenAPI has no words for events: a stream is described as the array of them, in the order in which they
    // come, each with its name as `event`.
    static json::object events(std::string_view help, json::array variants) {
        return {{"schema",
                 {{"type", "array"}, {"description", help}, {"items", {{"oneOf", std::move(variants)}}}}}};
    }
    static json::object event(json::array names, std::string_view help, json::object data,
                              std::string_view id_pattern) {
        return json::object{{"type", "object"},
                            {"description", help},
                            {"required", json::array{"event", "data"}},
                            {"properties",
                             {{"event", {{"enum", std::move(names)}}},
                              {"id", {{"type", "string"}, {"pattern", id_pattern}}},
                              {"data", std::move(data)}}}};
    }
    static json::object no_fields() { return {{"type", "object"}, {"maxProperties", 0}}; }

    json::object events_of_list(const Operation& operation) {
        const Schema& item = *operation.response().find("items")->schema->element;
        define(item);
        constexpr std::string_view number = "^[0-9]+$";
        return events(
            "Server-sent events; the data of each is JSON. First the present objects, then synced, then "
            "changes.",
            {event({"added", "changed", "removed"},
                   "An object as it is now. With an id it is the last of its commit.", reference(item),
                   number),
             event({"synced"}, "All present objects have come; from here on come changes.", no_fields(),
                   number)});
    }

    json::object events_of_stream(const Operation& operation) {
        constexpr std::string_view place = "^[0-9]+-[0-9]+$";
        return events(
            "Server-sent events; the data of each is JSON. First reset, if events are missing, and synced, "
            "then "
            "changes.",
            {event({"synced"}, "Its id is the place from which changes come.", no_fields(), place),
             event({"reset"}, "Events behind the named place are no longer kept: load everything again.",
                   no_fields(), place),
             event({"change"}, "One object has changed; several changes of it may come as one.",
                   reference(operation.response()), place)});
    }

    // It answers with a file, and so is in no table of operations.
    static json::object backup() {
        json::object file{{"schema", {{"type", "string"}, {"contentMediaType", "application/octet-stream"}}}};
        return {{"operationId", "backup"},
                {"summary", "Everything in the store at one moment, as a file for `hostler restore`."},
                {"tags", json::array{"operation"}},
                {"x-permission", name_of(Permission::store_backup)},
                {"x-scope", name_of(row_of(Permission::store_backup).level)},
                {"responses",
                 {{"200",
                   {{"description", "The backup."},
                    {"content", {{"application/octet-stream", std::move(file)}}}}},
                  {"default", {{"$ref", "#/components/responses/problem"}}}}}};
    }

    json::object parameter(const Property& property, Place place) {
        json::object schema = of(property);
        schema.erase("description");
        json::object out{{"name", property.name}, {"in", place == Place::path ? "path" : "query"}};
        out["description"] = property.field ? property.field->help : "";
        if (place == Place::path || (place == Place::query && property.required)) out["required"] = true;
        out["schema"] = std::move(schema);
        return out;
    }

    static json::object parameter(const Operation& operation, const CommonParameter& common) {
        json::object schema{{"type", type_of(common.kind)}};
        std::string help{common.help};
        if (common.name == "query") {
            schema["maxLength"] = query_length_max;
            std::vector<std::string_view> names;
            const ListFields known = list_fields(item_of(operation));
            for (const QueryField& field : known.fields) names.push_back(field.name);
            help += fmt::format(" Fields: {}.", fmt::join(names, ", "));
        }
        if (common.max > 0) {
            schema["minimum"] = common.min;
            schema["maximum"] = common.max;
        }
        if (!common.initial.empty()) schema["default"] = json::parse(common.initial);
        if (common.name == "order") schema["enum"] = {"created", "-created"};
        if (common.name == "cursor") {
            schema["pattern"] = cursor_pattern;
            schema["maxLength"] = cursor_max;
        }
        return {{"name", common.name},
                {"in", "query"},
                {"description", std::move(help)},
                {"schema", std::move(schema)}};
    }

    static json::object idempotency_key() {
        return {{"name", "Idempotency-Key"},
                {"in", "header"},
                {"description",
                 "The caller's name for this call: sent again with the same request, it gets the first "
                 "answer."},
                {"schema", {{"type", "string"}, {"maxLength", 128}}}};
    }
    static json::object if_match() {
        return {{"name", "If-Match"},
                {"in", "header"},
                {"description", "The field ifVersion as a header: one version in quotation marks."},
                {"schema", {{"type", "string"}}}};
    }
    static json::object last_event_id() {
        return {{"name", "Last-Event-ID"},
                {"in", "header"},
                {"description", "Of a watch: continue after the event with this id."},
                {"schema", {{"type", "string"}}}};
    }

    // A property with all that is known of it.
    json::object of(const Property& property) {
        json::object out = of(*property.schema);
        const Field* field = property.field;
        if (!field) return out;
        const Kind kind = property.schema->kind;
        const auto bound = [&](std::string_view low, std::string_view high) {
            if (field->min) out[low] = *field->min;
            if (field->max) out[high] = *field->max;
        };
        if (kind == Kind::integer || kind == Kind::number) bound("minimum", "maximum");
        if (kind == Kind::text) bound("minLength", "maxLength");
        if (kind == Kind::list) bound("minItems", "maxItems");
        if (field->form && kind == Kind::text) {
            out["format"] = field->form->name;
            if (!field->form->pattern.empty()) out["pattern"] = field->form->pattern;
        }
        if (field->hidden) out["format"] = "password", out["writeOnly"] = true;
        if (!property.initial.empty() && kind != Kind::object) out["default"] = json::parse(property.initial);
        if (!field->example.empty()) out["examples"] = json::array{literal(*property.schema, field->example)};
        out["description"] = field->help;
        return out;
    }

    json::object of(const Schema& schema) {
        switch (schema.kind) {
            case Kind::object:
            case Kind::enumeration: define(schema); return reference(schema);
            case Kind::time: return {{"type", "string"}, {"format", "date-time"}};
            case Kind::list: {
                json::object items = of(*schema.element);
                if (schema.gaps) items["type"] = json::array{items.at("type"), "null"};
                return {{"type", "array"}, {"items", std::move(items)}};
            }
            case Kind::map: return {{"type", "object"}, {"additionalProperties", of(*schema.element)}};
            case Kind::integer: {
                json::object out{{"type", "integer"}};
                if (schema.max > INT32_MAX) out["format"] = "int64";
                return out;
            }
            case Kind::boolean:
            case Kind::number:
            case Kind::text: break;
        }
        return {{"type", type_of(schema.kind)}};
    }

    // Puts the schema among the components, once.
    void define(const Schema& schema) {
        if (schemas_.contains(schema.name)) return;
        if (schema.kind == Kind::enumeration) {
            json::array values;
            for (const auto value : schema.values) values.push_back(json::string(value));
            schemas_[schema.name] = json::object{{"type", "string"}, {"enum", std::move(values)}};
            return;
        }
        schemas_[schema.name] = json::object{};  // Before its properties, which may lead back to it.
        json::object properties;
        json::array required;
        for (const Property& property : schema.properties) {
            properties[property.name] = of(property);
            if (property.required) required.push_back(json::string(property.name));
        }
        json::object out{{"type", "object"}};
        if (!properties.empty()) out["properties"] = std::move(properties);
        if (!required.empty()) out["required"] = std::move(required);
        add_rules(schema.name, out);
        schemas_[schema.name] = std::move(out);
    }

    json::object schemas_;
};

}  // namespace

std::string openapi() { return indented(Document{}.make()) + "\n"; }

}  // namespace hostler::api
