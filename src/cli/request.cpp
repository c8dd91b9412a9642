#include "cli/request.h"

#include <fmt/format.h>

#include <utility>

#include "api/codec.h"
#include "cli/documents.h"
#include "cli/values.h"

namespace hostler::cli {

namespace {

using api::Kind;

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

// Before and after the first '='; without one the second is empty.
std::pair<std::string_view, std::string_view> halves(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == text.npos) return {text, {}};
    return {text.substr(0, equals), text.substr(equals + 1)};
}

// "8080,public,probe,base-url=/lab"
Result<json::value> parse_port(std::string_view text) {
    const auto parts = split(text, ',');
    json::object port{{"port", TRY(whole_number(parts.front()))}};
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto equals = parts[i].find('=');
        const auto name = parts[i].substr(0, equals);
        if (equals == parts[i].npos && name == "public")
            port["isPublic"] = true;
        else if (equals == parts[i].npos && name == "probe")
            port["isProbe"] = true;
        else if (equals != parts[i].npos && name == "base-url")
            port["baseUrl"] = json::string(parts[i].substr(equals + 1));
        else if (equals != parts[i].npos && name == "protocol")
            port["protocol"] = json::string(parts[i].substr(equals + 1));
        else
            return fail(Code::invalid,
                        fmt::format("'{}' is none of public, probe, base-url=/PATH", parts[i]));
    }
    return port;
}

Result<json::value> parse_env(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == text.npos || equals == 0)
        return fail(Code::invalid, fmt::format("'{}' is not NAME=VALUE", text));
    return json::object{{"name", text.substr(0, equals)}, {"value", text.substr(equals + 1)}};
}

// "token=@token.txt", "token=-", "token": what is typed here is seen by everybody on this machine, and kept
// by shells.
Result<json::value> parse_secret_value(std::string_view text, const CliWorld& world) {
    const auto equals = text.find('=');
    const std::string key{text.substr(0, equals)};
    const std::string_view from = equals == text.npos ? std::string_view{} : text.substr(equals + 1);
    if (key.empty() || (equals != text.npos && from != "-" && !from.starts_with('@')))
        return fail(
            Code::invalid,
            fmt::format("a value is not written here, where others see it: KEY=@FILE reads it from a file, "
                        "{}=- from standard input, {} alone asks for it",
                        key.empty() ? "KEY" : key, key.empty() ? "KEY" : key));
    std::string value;
    if (equals != text.npos) {
        value = TRY(read_text(std::string{from == "-" ? from : from.substr(1)}, world));
        if (value.ends_with('\n')) value.pop_back();  // As editors and `echo` end a file.
    } else {
        auto typed = world.ask ? world.ask(key + ": ", true) : std::nullopt;
        if (!typed)
            return fail(
                Code::invalid,
                fmt::format(
                    "no terminal to ask for {0}: write {0}=@FILE, or {0}=- and its value to standard input",
                    key));
        value = std::move(*typed);
    }
    return json::object{{"key", key}, {"value", std::move(value)}};
}

// "HF_TOKEN=huggingface/token"
Result<json::value> parse_secret_env(std::string_view text) {
    const auto equals = text.find('='), slash = text.rfind('/');
    if (equals == text.npos || equals == 0 || slash == text.npos || slash <= equals + 1 ||
        slash + 1 == text.size())
        return fail(Code::invalid, fmt::format("'{}' is not NAME=SECRET/KEY", text));
    return json::object{{"name", text.substr(0, equals)},
                        {"secret", text.substr(equals + 1, slash - equals - 1)},
                        {"key", text.substr(slash + 1)}};
}

// "/run/secrets/token=huggingface/token", "/run/secrets=huggingface"
Result<json::value> parse_secret_file(std::string_view text) {
    const auto equals = text.rfind('=');
    if (!text.starts_with('/') || equals == text.npos || equals + 1 == text.size())
        return fail(Code::invalid, fmt::format("'{}' is not /PATH=SECRET[/KEY]", text));
    const auto from = text.substr(equals + 1);
    const auto slash = from.find('/');
    json::object file{{"path", text.substr(0, equals)}, {"secret", from.substr(0, slash)}};
    if (slash != from.npos) file["key"] = json::string(from.substr(slash + 1));
    return file;
}

// "ml-team=member", "ml-team=member,project=lab". Groups of a directory have '=' and ',': the last '=' before
// the first part that is known counts.
Result<json::value> parse_group_role(std::string_view text) {
    const std::string_view whole = text;
    json::object mapped;
    for (auto comma = text.rfind(','); comma != text.npos; comma = text.rfind(',')) {
        const std::string_view part = text.substr(comma + 1);
        const auto equals = part.find('=');
        const std::string_view name = part.substr(0, equals);
        if (equals == part.npos || (name != "tenant" && name != "project")) break;
        mapped[name == "tenant" ? "tenantID" : "project"] = json::string(part.substr(equals + 1));
        text = text.substr(0, comma);
    }
    const auto equals = text.rfind('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size())
        return fail(Code::invalid,
                    fmt::format("'{}' is not GROUP=ROLE[,tenant=TENANT][,project=PROJECT]", whole));
    mapped["group"] = json::string(text.substr(0, equals));
    mapped["role"] = json::string(text.substr(equals + 1));
    return mapped;
}

// "models:/data:ro", "models:/data", "/data"
Result<json::value> parse_mount(std::string_view text) {
    auto parts = split(text, ':');
    json::object mount;
    if (parts.size() > 1 && !parts.front().starts_with('/')) {
        mount["name"] = json::string(parts.front());
        parts.erase(parts.begin());
    }
    mount["mountPath"] = json::string(parts.front());
    const bool mode = parts.size() == 2 && (parts[1] == "ro" || parts[1] == "rw");
    if (!parts.front().starts_with('/') || parts.size() > 2 || (parts.size() == 2 && !mode))
        return fail(Code::invalid, fmt::format("'{}' is not [VOLUME:]/PATH[:ro]", text));
    if (mode) mount["readOnly"] = parts[1] == "ro";
    return mount;
}

// "gpus=8", "gpus=8,guaranteed=2", "gpus:H100 SXM5 80GB=4"
Result<json::value> parse_quota_limit(std::string_view text) {
    const auto parts = split(text, ',');
    const auto equals = parts.front().rfind('=');
    constexpr std::string_view guaranteed = "guaranteed=";
    const bool proper = equals != text.npos && equals > 0 &&
                        (parts.size() == 1 || (parts.size() == 2 && parts[1].starts_with(guaranteed)));
    if (!proper)
        return fail(Code::invalid, fmt::format("'{}' is not RESOURCE=LIMIT[,guaranteed=AMOUNT]", text));
    json::object limit{{"resource", parts.front().substr(0, equals)},
                       {"limit", parts.front().substr(equals + 1)}};
    if (parts.size() == 2) limit["guaranteed"] = json::string(parts[1].substr(guaranteed.size()));
    return limit;
}

// "prepare", "prepare:ended"
Result<json::value> parse_job_after(std::string_view text, const api::Schema& schema) {
    const auto colon = text.rfind(':');
    const std::string_view job = text.substr(0, colon);
    if (job.empty())
        return fail(Code::invalid, fmt::format("'{}' is not JOB[:succeeded|failed|ended]", text));
    json::object after{{"job", job}};
    if (colon == text.npos) return after;
    const std::string_view when = text.substr(colon + 1);
    const auto& known = schema.find("when")->schema->values;
    if (std::ranges::find(known, when) == known.end())
        return fail(Code::invalid, fmt::format("'{}' is none of {}", when, fmt::join(known, ", ")));
    after["when"] = json::string(when);
    return after;
}

// "gpu=2", "gpu=2,gpu-type=H100,gpus=8,zone=nj,host=gpu-07,label=disk=nvme"
Result<json::value> parse_cluster_pool(std::string_view text) {
    const auto parts = split(text, ',');
    const auto [name, count] = halves(parts.front());
    if (name.empty() || count.empty())
        return fail(Code::invalid, fmt::format("'{}' is not NAME=COUNT", parts.front()));
    json::object pool{{"name", name}, {"count", TRY(whole_number(count))}};
    json::array hosts;
    json::object labels;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto [what, value] = halves(parts[i]);
        if (what == "gpu-type")
            pool["gpuType"] = json::string(value);
        else if (what == "gpus")
            pool["gpus"] = TRY(whole_number(value));
        else if (what == "zone")
            pool["zone"] = json::string(value);
        else if (what == "host")
            hosts.emplace_back(json::string(value));
        else if (what == "label" && value.contains('='))
            labels[halves(value).first] = json::string(halves(value).second);
        else
            return fail(Code::invalid,
                        fmt::format("'{}' is none of gpu-type=WORDS, gpus=NUMBER, zone=ZONE, host=HOST, "
                                    "label=NAME=VALUE",
                                    parts[i]));
    }
    if (!hosts.empty()) pool["hosts"] = std::move(hosts);
    if (!labels.empty()) pool["hostLabels"] = std::move(labels);
    return pool;
}

}  // namespace

Result<json::value> to_value(const api::Schema& schema, const api::Field* field, std::string_view text,
                             const CliWorld& world) {
    switch (schema.kind) {
        case Kind::integer: {
            if (!field || field->unit != api::Unit::seconds) return whole_number(text);
            if (text == "off" && field->min == 0) return json::value(0);
            const std::chrono::seconds time = TRY(parse_time(text));
            return json::value(static_cast<std::int64_t>(time.count()));
        }
        case Kind::enumeration:
            if (std::find(schema.values.begin(), schema.values.end(), text) == schema.values.end()) {
                const auto meant = api::nearest(text, schema.values);
                return fail(Code::invalid,
                            fmt::format("'{}' is none of {}{}", text, fmt::join(schema.values, ", "),
                                        meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
            }
            return json::value(json::string(text));
        case Kind::object:
            if (schema.name == "Port") return parse_port(text);
            if (schema.name == "Env") return parse_env(text);
            if (schema.name == "VolumeMount") return parse_mount(text);
            if (schema.name == "SecretValue") return parse_secret_value(text, world);
            if (schema.name == "SecretEnv") return parse_secret_env(text);
            if (schema.name == "SecretFile") return parse_secret_file(text);
            if (schema.name == "GroupRole") return parse_group_role(text);
            if (schema.name == "QuotaLimit") return parse_quota_limit(text);
            if (schema.name == "JobAfter") return parse_job_after(text, schema);
            if (schema.name == "ClusterPool") return parse_cluster_pool(text);
            return api::parse_json(text);
        case Kind::boolean:
        case Kind::number:
        case Kind::text:
        case Kind::time:
        case Kind::list:
        case Kind::map: break;
    }
    return json::value(json::string(text));
}

namespace {

// A new one is typed twice.
Result<json::value> hidden_value(const Flag& flag, const CliWorld& world) {
    const std::string name = kebab(flag.property->name);
    const std::string from = flag.values.empty() ? "" : flag.values.front();
    const std::string text = TRY(hidden_text(from, name + ": ", flag.name, world));
    const bool is_new = name.contains("password") && flag.property->field->min > 1;
    if (from.empty() && is_new && world.ask(name + " again: ", true) != text)
        return fail(Code::invalid, "the two differ");
    return json::value(json::string(text));
}

Result<json::value> value_of(const Flag& flag, const CliWorld& world) {
    const api::Property& property = *flag.property;
    if (flag.is_hidden()) return hidden_value(flag, world);
    if (property.schema->kind == Kind::boolean) return json::value(flag.on);
    if (flag.is_map()) {
        json::object entries;
        for (const std::string& one : flag.values) {
            const auto equals = one.find('=');
            if (equals == one.npos || equals == 0)
                return fail(Code::invalid, fmt::format("'{}' is not NAME=VALUE", one));
            entries[one.substr(0, equals)] = json::string(one.substr(equals + 1));
        }
        return entries;
    }
    if (flag.is_list()) {
        json::array list;
        // `--pools ''`: none of them.
        if (flag.values == std::vector<std::string>{""} && property.schema->element->kind == Kind::object)
            return list;
        for (const std::string& one : flag.values)
            list.push_back(TRY(to_value(*property.schema->element, nullptr, one, world)));
        return list;
    }
    if (flag.is_label_filter())  // Each of them narrows the list.
        return json::value(fmt::format("{}", fmt::join(flag.values, ",")));
    if (flag.values.size() != 1) return fail(Code::invalid, "is given more than once");
    return to_value(*property.schema, property.field, flag.values.front(), world);
}

// A file's fields. It may be one for `hostler apply`, which names its kind.
Result<json::object> read_fields(const Command& command, const CliWorld& world) {
    if (command.file.empty()) return json::object{};
    auto documents = TRY(read_documents(command.file, world));
    if (documents.size() != 1)
        return fail(Code::invalid,
                    fmt::format("{} has {} documents, and {} takes the fields of one; `hostler apply -f` "
                                "takes many",
                                command.file, documents.size(), command.app->get_name()));
    json::object fields = std::move(documents.front().value.get_object());
    const std::string kind = text_of(fields, "kind");
    if (!kind.empty() && !command.operation->request().find("kind")) {
        if (kind != command.operation->noun)
            return fail(Code::invalid,
                        fmt::format("{}: this is the kind {}, not {}", documents.front().place("kind"), kind,
                                    command.operation->noun));
        fields.erase("kind");
    }
    return fields;
}

// A parameter's text. Of path and query there are only plain values.
std::string parameter(const json::value& value) {
    if (const auto* text = value.if_string()) return std::string(*text);
    return json::serialize(value);
}

void put(json::object& into, const std::vector<std::string>& path, json::value value) {
    json::object* at = &into;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        json::value& next = (*at)[path[i]];
        if (!next.is_object()) next = json::object{};
        at = &next.get_object();
    }
    (*at)[path.back()] = std::move(value);
}

bool is_tenant(const api::Property& property) { return property.name == "tenantID"; }

}  // namespace

ApiCall place_fields(const api::Operation& operation, json::object fields) {
    ApiCall call{.operation = &operation};
    for (auto& field : fields) {
        const api::Property* property = operation.request().find(field.key());
        const auto place = property ? api::place_of(operation, *property) : api::Place::body;
        switch (place) {
            case api::Place::path: call.params.emplace_back(field.key(), parameter(field.value())); break;
            case api::Place::query:
            // Some proxies drop a DELETE's body, so its fields go where they survive.
            case api::Place::body_or_query:
                call.query.emplace_back(field.key(), parameter(field.value()));
                break;
            case api::Place::body: call.body[field.key()] = std::move(field.value()); break;
        }
    }
    return call;
}

namespace {

// Flags without which the operation is refused; those that are hidden are asked for.
std::vector<FieldError> missing(const Command& command, const json::object& fields) {
    std::vector<FieldError> found;
    for (const auto& flag : command.flags)
        if (flag->path.size() == 1 && flag->property->required && !fields.contains(flag->property->name) &&
            !flag->given() && !is_tenant(*flag->property) && !flag->is_hidden())
            found.push_back({flag->name, fmt::format("is required: {}", flag->property->field->help)});
    return found;
}

Result<> complete_or_refused(Error error) {
    if (error.fields.empty()) return {};
    error.message = "the command is not complete, or wrong";
    return std::unexpected(std::move(error));
}

}  // namespace

Result<> check_given(const Command& command) {
    if (!command.file.empty()) return {};
    return complete_or_refused({.code = Code::invalid, .fields = missing(command, {})});
}

Result<ApiCall> to_call(const Command& command, const CliWorld& world) {
    const api::Operation& operation = *command.operation;
    json::object fields = TRY(read_fields(command, world));
    Error error{.code = Code::invalid};
    for (const auto& flag : command.flags) {
        if (!flag->given()) continue;
        auto value = value_of(*flag, world);
        if (value)
            put(fields, flag->path, std::move(*value));
        else
            error.fields.push_back({flag->name, value.error().message});
    }
    for (FieldError& one : missing(command, fields)) error.fields.push_back(std::move(one));
    if (error.fields.empty())
        for (const auto& flag : command.flags) {
            if (!flag->is_hidden() || !flag->property->required || fields.contains(flag->property->name) ||
                flag->given())
                continue;
            auto value = hidden_value(*flag, world);
            if (value)
                put(fields, flag->path, std::move(*value));
            else
                error.fields.push_back({flag->name, value.error().message});
        }
    TRY(complete_or_refused(std::move(error)));

    ApiCall call = place_fields(operation, std::move(fields));
    call.idempotency_key = command.idempotency_key;
    if (command.dry_run) call.query.emplace_back("dryRun", "true");
    return call;
}

bool needs_tenant(const Command& command, const ApiCall& call) {
    const api::Property* tenant = command.operation->request().find("tenantID");
    return tenant && tenant->required && !call.body.contains("tenantID");
}

}  // namespace hostler::cli
