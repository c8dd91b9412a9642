#include "adapters/kubernetes/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <boost/json.hpp>

#include "core/safe_text.h"

namespace hostler::kubernetes {

namespace {

namespace json = boost::json;

constexpr int depth_max = 32;
constexpr std::size_t values_max = 20'000;

json::value scalar(const YAML::Node& node) {
    const auto& text = node.Scalar();
    if (node.Tag() == "!") return json::value(text);  // It was quoted.
    if (text == "true" || text == "false") return text == "true";
    if (text.empty() || text == "null" || text == "~") return nullptr;
    std::int64_t number = 0;
    if (YAML::convert<std::int64_t>::decode(node, number)) return number;
    return json::value(text);
}

Result<json::value> convert(const YAML::Node& node, int depth, std::size_t& values) {
    if (depth > depth_max || ++values > values_max)
        return fail(Code::invalid, "it is nested too deep or has too many values");
    switch (node.Type()) {
        case YAML::NodeType::Undefined:
        case YAML::NodeType::Null: return json::value{};
        case YAML::NodeType::Scalar: return scalar(node);
        case YAML::NodeType::Sequence: {
            json::array array;
            for (const auto& item : node) array.push_back(TRY(convert(item, depth + 1, values)));
            return json::value(std::move(array));
        }
        case YAML::NodeType::Map: {
            json::object object;
            for (const auto& item : node) {
                if (!item.first.IsScalar()) return fail(Code::invalid, "a key is not a scalar");
                const auto& key = item.first.Scalar();
                if (object.contains(key))
                    return fail(Code::invalid, fmt::format("the key '{}' stands twice", safe_line(key)));
                object[key] = TRY(convert(item.second, depth + 1, values));
            }
            return json::value(std::move(object));
        }
    }
    return json::value{};
}

}  // namespace

Result<json::value> parse_yaml(std::string_view text) {
    if (text.size() > yaml_bytes_max)
        return fail(Code::invalid, fmt::format("it is larger than {} bytes", yaml_bytes_max));
    try {
        std::size_t values = 0;
        return convert(YAML::Load(std::string{text}), 0, values);
    } catch (const YAML::Exception& error) {
        return fail(Code::invalid, fmt::format("it is not YAML: {}", safe_line(error.what())));
    }
}

}  // namespace hostler::kubernetes
