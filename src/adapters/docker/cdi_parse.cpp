// One CDI file, checked as strictly as the specification asks: an unknown field makes the file invalid, since
// what it means would be left out in silence.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/json.hpp>

#include "adapters/docker/cdi.h"

namespace hostler::docker {

namespace {

namespace json = boost::json;
using Fields = std::initializer_list<std::string_view>;

constexpr std::string_view versions[] = {"0.3.0", "0.4.0", "0.5.0", "0.6.0",
                                         "0.7.0", "0.8.0", "1.0.0", "1.1.0"};
constexpr std::string_view hook_names[] = {"prestart",       "createRuntime", "createContainer",
                                           "startContainer", "poststart",     "poststop"};
constexpr int depth_max = 16;
constexpr std::size_t nodes_max = 100'000;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_alphanumeric(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

bool is_label(std::string_view text, std::string_view inner, bool letter_first) {
    if (text.empty() || text.size() > 255 || !is_alphanumeric(text.back())) return false;
    if (letter_first ? !is_letter(text.front()) : !is_alphanumeric(text.front())) return false;
    return std::ranges::all_of(text, [&](char c) { return is_alphanumeric(c) || inner.contains(c); });
}

bool is_kind(std::string_view kind) {
    const auto slash = kind.find('/');
    return slash != std::string_view::npos && is_label(kind.substr(0, slash), "_-.", true) &&
           is_label(kind.substr(slash + 1), "_-", true);
}

bool is_path(std::string_view path) { return path.starts_with('/') && path.find('\0') == path.npos; }

// A JSON object whose members are taken one by one by name; what nobody knows is an error.
class Reader {
public:
    static Result<Reader> open(const json::value& value, std::string where, Fields known) {
        const auto* object = value.if_object();
        if (!object) return fail(Code::invalid, fmt::format("{} is not an object", where));
        for (const auto& [key, unused] : *object)
            if (std::ranges::find(known, std::string_view(key)) == known.end())
                return fail(Code::invalid,
                            fmt::format("{} has an unknown field '{}'", where, std::string_view(key)));
        return Reader{object, std::move(where)};
    }

    Result<std::string> text(std::string_view name, std::string otherwise = {}) const {
        const auto* value = object_->if_contains(name);
        if (!value) return otherwise;
        if (!value->is_string())
            return fail(Code::invalid, fmt::format("{}.{} is not a string", where_, name));
        return std::string(value->as_string());
    }

    Result<std::string> path(std::string_view name) const {
        auto found = TRY(text(name));
        if (!is_path(found))
            return fail(Code::invalid, fmt::format("{}.{} is not an absolute path", where_, name));
        return found;
    }

    Result<std::vector<std::string>> texts(std::string_view name) const {
        std::vector<std::string> found;
        for (const auto& item : TRY(items(name))) {
            if (!item.is_string())
                return fail(Code::invalid, fmt::format("{}.{} holds a non-string", where_, name));
            found.emplace_back(item.as_string());
        }
        return found;
    }

    Result<json::array> items(std::string_view name) const {
        const auto* value = object_->if_contains(name);
        if (!value || value->is_null()) return json::array{};
        if (!value->is_array()) return fail(Code::invalid, fmt::format("{}.{} is not a list", where_, name));
        return value->as_array();
    }

    const json::value* find(std::string_view name) const { return object_->if_contains(name); }
    std::string at(std::string_view name, std::size_t index) const {
        return fmt::format("{}.{}[{}]", where_, name, index);
    }

private:
    Reader(const json::object* object, std::string where) : object_(object), where_(std::move(where)) {}
    const json::object* object_;
    std::string where_;
};

Result<CdiNode> parse_node(const json::value& value, std::string where) {
    const auto reader = TRY(Reader::open(
        value, where,
        {"path", "hostPath", "type", "major", "minor", "fileMode", "permissions", "uid", "gid"}));
    CdiNode node;
    node.path = TRY(reader.path("path"));
    node.host_path = reader.find("hostPath") ? TRY(reader.path("hostPath")) : node.path;
    node.permissions = TRY(reader.text("permissions", "rwm"));
    const auto type = TRY(reader.text("type"));
    if (type == "p") return fail(Code::invalid, fmt::format("{} is a FIFO, which no engine maps", where));
    if (!type.empty() && type != "c" && type != "b" && type != "u")
        return fail(Code::invalid, fmt::format("{}.type '{}' is not known", where, type));
    if (node.permissions.find_first_not_of("rwm") != std::string::npos)
        return fail(Code::invalid,
                    fmt::format("{}.permissions '{}' are not of 'rwm'", where, node.permissions));
    if (node.permissions.empty()) node.permissions = "rwm";
    return node;
}

Result<CdiMount> parse_mount(const json::value& value, std::string where) {
    const auto reader = TRY(Reader::open(value, where, {"hostPath", "containerPath", "options", "type"}));
    return CdiMount{TRY(reader.path("hostPath")), TRY(reader.path("containerPath")),
                    TRY(reader.texts("options"))};
}

Result<CdiHook> parse_hook(const json::value& value, std::string where) {
    const auto reader = TRY(Reader::open(value, where, {"hookName", "path", "args", "env", "timeout"}));
    CdiHook hook{TRY(reader.text("hookName")), TRY(reader.path("path")), TRY(reader.texts("args"))};
    if (std::ranges::find(hook_names, hook.name) == std::end(hook_names))
        return fail(Code::invalid, fmt::format("{}.hookName '{}' is not known", where, hook.name));
    return hook;
}

Result<CdiEdits> parse_edits(const json::value& value, std::string where) {
    const auto reader = TRY(Reader::open(
        value, where, {"env", "deviceNodes", "netDevices", "mounts", "hooks", "intelRdt", "additionalGids"}));
    CdiEdits edits;
    for (const auto& entry : TRY(reader.texts("env"))) {
        const auto equals = entry.find('=');
        if (equals == 0 || equals == std::string::npos)
            return fail(Code::invalid, fmt::format("{}.env '{}' is not NAME=value", where, entry));
        edits.environment.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
    std::size_t index = 0;
    for (const auto& item : TRY(reader.items("deviceNodes")))
        edits.nodes.push_back(TRY(parse_node(item, reader.at("deviceNodes", index++))));
    index = 0;
    for (const auto& item : TRY(reader.items("mounts")))
        edits.mounts.push_back(TRY(parse_mount(item, reader.at("mounts", index++))));
    index = 0;
    for (const auto& item : TRY(reader.items("hooks")))
        edits.hooks.push_back(TRY(parse_hook(item, reader.at("hooks", index++))));
    for (const auto& item : TRY(reader.items("additionalGids"))) {
        if (!item.is_int64() || item.as_int64() < 0)
            return fail(Code::invalid, fmt::format("{}.additionalGids holds a non-number", where));
        edits.groups.push_back(item.as_int64());
    }
    for (const auto* name : {"intelRdt", "netDevices"})
        if (reader.find(name))
            edits.warnings.push_back(
                fmt::format("CDI {}.{} is left out: the engine cannot do it", where, name));
    return edits;
}

Result<CdiFile> parse_value(const json::value& value) {
    const auto reader =
        TRY(Reader::open(value, "file", {"cdiVersion", "kind", "annotations", "devices", "containerEdits"}));
    CdiFile file;
    const auto version = TRY(reader.text("cdiVersion"));
    if (std::ranges::find(versions, version) == std::end(versions))
        return fail(Code::invalid, fmt::format("cdiVersion '{}' is not known (0.3.0 to 1.1.0 are)", version));
    file.kind = TRY(reader.text("kind"));
    if (!is_kind(file.kind))
        return fail(Code::invalid, fmt::format("kind '{}' is not vendor/class", file.kind));
    if (const auto* edits = reader.find("containerEdits"))
        file.common = TRY(parse_edits(*edits, "containerEdits"));
    std::size_t index = 0;
    for (const auto& item : TRY(reader.items("devices"))) {
        const auto where = reader.at("devices", index++);
        const auto device = TRY(Reader::open(item, where, {"name", "annotations", "containerEdits"}));
        const auto name = TRY(device.text("name"));
        if (!is_label(name, "_-.:", false))
            return fail(Code::invalid, fmt::format("{}.name '{}' is not a name", where, name));
        const auto* edits = device.find("containerEdits");
        if (!edits) return fail(Code::invalid, fmt::format("{} ('{}') has no containerEdits", where, name));
        if (!file.devices.emplace(name, TRY(parse_edits(*edits, where + ".containerEdits"))).second)
            return fail(Code::invalid, fmt::format("two devices are named '{}'", name));
    }
    if (file.devices.empty()) return fail(Code::invalid, "it has no devices");
    return file;
}

// What a plain YAML scalar is read as, by the core schema; what is quoted stays a string.
json::value scalar(const YAML::Node& node) {
    const auto& text = node.Scalar();
    if (node.Tag() == "!") return json::value(text);
    if (text == "true" || text == "false") return text == "true";
    if (text.empty() || text == "null" || text == "~") return nullptr;
    try {
        return node.as<std::int64_t>();
    } catch (const YAML::Exception&) {
        return json::value(text);
    }
}

Result<json::value> convert(const YAML::Node& node, int depth, std::size_t& nodes) {
    if (depth > depth_max || ++nodes > nodes_max)
        return fail(Code::invalid, "it is nested too deep or too large");
    switch (node.Type()) {
        case YAML::NodeType::Undefined:
        case YAML::NodeType::Null: return json::value{};
        case YAML::NodeType::Scalar: return scalar(node);
        case YAML::NodeType::Sequence: {
            json::array array;
            for (const auto& item : node) array.push_back(TRY(convert(item, depth + 1, nodes)));
            return json::value(std::move(array));
        }
        case YAML::NodeType::Map: {
            json::object object;
            for (const auto& item : node) {
                if (!item.first.IsScalar()) return fail(Code::invalid, "a key is not a word");
                object[item.first.Scalar()] = TRY(convert(item.second, depth + 1, nodes));
            }
            return json::value(std::move(object));
        }
    }
    return json::value{};
}

}  // namespace

Result<CdiFile> parse_cdi_json(std::string_view text) {
    if (text.size() > cdi_file_bytes_max) return fail(Code::invalid, "it is too large");
    json::error_code error;
    const auto value = json::parse({text.data(), text.size()}, error);
    if (error) return fail(Code::invalid, fmt::format("it is not JSON: {}", error.message()));
    return parse_value(value);
}

Result<CdiFile> parse_cdi_yaml(std::string_view text) {
    if (text.size() > cdi_file_bytes_max) return fail(Code::invalid, "it is too large");
    try {
        std::size_t nodes = 0;
        return parse_value(TRY(convert(YAML::Load(std::string(text)), 0, nodes)));
    } catch (const YAML::Exception& error) {
        return fail(Code::invalid, fmt::format("it is not YAML: {}", error.what()));
    }
}

}  // namespace hostler::docker
