#include "api/openapi.h"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <fstream>
#include <regex>
#include <sstream>

#include "api/codec.h"
#include "api/cursor.h"
#include "api/operation_list.h"
#include "api/types_instance.h"
#include "api/types_key.h"

namespace hostler::api {
namespace {

namespace json = boost::json;

json::value document() { return *parse_json(openapi(), 16 << 20); }

// Calls `each` with the target of every $ref.
void references(const json::value& value, const std::function<void(std::string_view)>& each) {
    if (const auto* object = value.if_object())
        for (const auto& entry : *object) {
            if (entry.key() == "$ref") each(entry.value().as_string());
            references(entry.value(), each);
        }
    if (const auto* array = value.if_array())
        for (const auto& element : *array) references(element, each);
}

TEST(OpenApi, IsTheOneThatIsCommitted) {
    std::ifstream file{HOSTLER_OPENAPI};
    std::stringstream committed;
    committed << file.rdbuf();
    EXPECT_TRUE(committed.str() == openapi()) << "openapi.json is stale: run ./dev gen and commit it";
}

TEST(OpenApi, RefersOnlyToWhatItDefines) {
    const json::value all = document();
    int count = 0;
    references(all, [&](std::string_view target) {
        ++count;
        ASSERT_TRUE(target.starts_with("#/"));
        json::error_code ec;
        EXPECT_TRUE(all.find_pointer(target.substr(1), ec)) << target;
    });
    EXPECT_GT(count, 100);
}

TEST(OpenApi, HasEveryOperationWithItsFields) {
    const json::value all = document();
    for (const Operation* operation : operations()) {
        std::string method{name(operation->method)};
        std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(c + 32); });
        const auto& one = all.at("paths").at(operation->path).at(method);
        EXPECT_EQ(one.at("operationId").as_string(), operation->name);
        EXPECT_TRUE(one.at("responses").as_object().contains(std::to_string(operation->status)));
        EXPECT_TRUE(one.at("responses").as_object().contains("default"));
    }
    const auto& start = all.at("components").at("schemas").at("CreateInstance");
    EXPECT_FALSE(start.at("properties").as_object().contains("zone"));  // That is a query parameter.
    EXPECT_EQ(json::serialize(start.at("required")), R"(["instanceID","tenantID","specName"])")
        << "a template may say the image";
    const auto& port = all.at("components").at("schemas").at("Port").at("properties").at("port");
    EXPECT_EQ(port.at("minimum").as_int64(), 1);
    EXPECT_EQ(port.at("maximum").as_int64(), 65535);
    EXPECT_FALSE(port.at("description").as_string().empty());
}

TEST(OpenApi, SaysWhatTheDecoderRefuses) {
    const json::value all = document();
    const auto at = [&](std::string_view place) { return json::serialize(all.at_pointer(place)); };
    EXPECT_EQ(at("/components/schemas/CreateInstance/allOf/0"),
              R"({"anyOf":[{"required":["image"],"properties":{"image":{"minLength":1}}},)"
              R"({"required":["templateName"],"properties":{"templateName":{"minLength":1}}}]})");
    EXPECT_EQ(at("/components/schemas/Placement/allOf/0/dependentRequired/pack"), R"(["group"])");
    for (const char* name : {"CreateApiKey", "PlacementTask", "ExplainPlacement"})
        EXPECT_TRUE(all.at("components").at("schemas").at(name).as_object().contains("allOf")) << name;
    EXPECT_TRUE(all.at("paths").as_object().contains("/v1/backup"));
    EXPECT_EQ(all.at_pointer("/paths/~1v1~1backup/get/x-scope").as_string(), "cloud");
    const auto& stream = all.at_pointer(
        "/paths/~1v1~1instances/get/responses/200/content/text~1event-stream/schema/items/oneOf");
    EXPECT_EQ(json::serialize(stream.as_array()[0].at("properties").at("data")),
              R"({"$ref":"#/components/schemas/Instance"})");
    for (const auto& parameter : all.at_pointer("/paths/~1v1~1instances/get/parameters").as_array())
        if (parameter.as_object().contains("name") && parameter.at("name") == "cursor") {
            const std::regex form{std::string{parameter.at("schema").at("pattern").as_string()}};
            EXPECT_TRUE(
                std::regex_match(to_string(Cursor{.list = 1, .at = 2, .created = 3, .id = "i-1"}), form));
            EXPECT_FALSE(std::regex_match("x", form));
            EXPECT_FALSE(parse_cursor("x"));
        }
}

TEST(OpenApi, AKeyMayComeInEitherHeader) {
    const json::value all = document();
    EXPECT_EQ(json::serialize(all.at("security")), R"([{"key":[]},{"keyHeader":[]}])");
    const auto& header = all.at("components").at("securitySchemes").at("keyHeader");
    EXPECT_EQ(header.at("type").as_string(), "apiKey");
    EXPECT_EQ(header.at("in").as_string(), "header");
    EXPECT_EQ(header.at("name").as_string(), "X-Hostler-Key");
}

}  // namespace
}  // namespace hostler::api
