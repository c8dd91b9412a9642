#include "api/openapi.h"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <fstream>
#include <sstream>

#include "api/codec.h"
#include "api/operations.h"

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
