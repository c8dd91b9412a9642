// The table itself: nothing without help, nothing twice, nothing that means a field which is not there.

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <set>

#include "api/codec.h"
#include "api/operation_list.h"
#include "api/operations_instance.h"
#include "api/operations_stock.h"
#include "api/router.h"

namespace hostler::api {
namespace {

// Every object schema that a request or response reaches.
void collect(const Schema& schema, std::set<const Schema*>& into) {
    if (schema.element) collect(*schema.element, into);
    if (schema.kind != Kind::object || !into.insert(&schema).second) return;
    for (const Property& property : schema.properties) collect(*property.schema, into);
}

std::set<const Schema*> all_objects() {
    std::set<const Schema*> all;
    collect(schema_of<Problem>(), all);
    for (const Operation* operation : operations()) {
        collect(operation->request(), all);
        collect(operation->response(), all);
    }
    return all;
}

TEST(Operations, EveryFieldHasHelpThatIsASentence) {
    for (const Schema* schema : all_objects())
        for (const Property& property : schema->properties) {
            ASSERT_TRUE(property.field)
                << schema->name << "." << property.name << " is not in the table of fields";
            EXPECT_TRUE(property.field->help.ends_with('.')) << schema->name << "." << property.name;
        }
}

TEST(Operations, EveryExampleIsAllowed) {
    for (const Schema* schema : all_objects())
        for (const Property& property : schema->properties) {
            const Field* field = property.field;
            if (!field || field->example.empty()) continue;
            const std::string where = schema->name + "." + property.name;
            switch (property.schema->kind) {
                case Kind::text: EXPECT_EQ(wrong_text(field->example, field), "") << where; break;
                case Kind::enumeration:
                    EXPECT_TRUE(std::ranges::count(property.schema->values, field->example)) << where;
                    break;
                case Kind::time: FAIL() << where << ": examples of times are made, not written";
                case Kind::boolean:
                case Kind::integer:
                case Kind::number:
                case Kind::list:
                case Kind::map:
                case Kind::object: {
                    const auto value = parse_json(field->example);
                    ASSERT_TRUE(value) << where;
                    if (value->is_number())
                        EXPECT_EQ(wrong_number(value->to_number<double>(), field), "") << where;
                }
            }
        }
}

TEST(Operations, AreNamedOnce) {
    std::set<std::string> names, places, commands;
    for (const Operation* operation : operations()) {
        EXPECT_TRUE(names.insert(std::string(operation->name)).second) << operation->name;
        EXPECT_TRUE(places.insert(fmt::format("{} {}", name(operation->method), operation->path)).second)
            << operation->name;
        EXPECT_TRUE(commands.insert(fmt::format("{} {}", operation->noun, operation->verb)).second)
            << operation->name;
        EXPECT_TRUE(operation->help.ends_with('.')) << operation->name;
        // The first changes nothing, and a token may what its caller may.
        if (operation->writes() && operation->name != "explainPlacement" &&
            operation->name != "createClusterCredential")
            EXPECT_FALSE(only_reads(operation->permission)) << operation->name;
        EXPECT_EQ(std::ranges::count(nouns(), operation->noun, &Noun::name), 1) << operation->name;
    }
}

TEST(Operations, MeanFieldsThatAreThere) {
    for (const Operation* operation : operations()) {
        const Schema& request = operation->request();
        std::string_view rest = operation->path;
        for (auto open = rest.find('{'); open != rest.npos; open = rest.find('{')) {
            rest.remove_prefix(open + 1);
            const Property* property = request.find(rest.substr(0, rest.find('}')));
            ASSERT_TRUE(property) << operation->name;
            EXPECT_TRUE(property->required && property->schema->kind == Kind::text) << operation->name;
        }
        if (!operation->argument.empty()) EXPECT_TRUE(request.find(operation->argument)) << operation->name;
        for (const CommonParameter& common : common_parameters())
            if (common.applies(*operation)) EXPECT_FALSE(request.find(common.name)) << operation->name;
        if (!operation->list) continue;
        const Schema& answer = operation->response();
        ASSERT_TRUE(answer.find("items") && answer.find("nextCursor")) << operation->name;
        EXPECT_FALSE(operation->columns.empty()) << operation->name;
        std::string_view columns = operation->columns;
        while (!columns.empty()) {
            const auto column = columns.substr(0, columns.find(' '));
            EXPECT_TRUE(answer.find("items")->schema->element->find(column))
                << operation->name << " " << column;
            columns.remove_prefix(std::min(columns.size(), column.size() + 1));
        }
    }
}

TEST(Operations, TheFiveOfTheSourceAnswer200AtTheirPaths) {
    const auto is = [](const Operation& operation, std::string_view place) {
        EXPECT_EQ(fmt::format("{} {}", name(operation.method), operation.path), place);
        EXPECT_EQ(operation.status, 200);
    };
    is(ops::create_stocks, "POST /stocks");
    is(ops::delete_stocks, "DELETE /stocks");
    is(ops::create_instance, "POST /gpu-instances");
    is(ops::delete_instance, "DELETE /gpu-instances/{instanceID}");
    is(ops::get_instance_state, "GET /gpu-instances/{instanceID}");
}

}  // namespace
}  // namespace hostler::api
