#include "api/list_query.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec_define.h"
#include "api/operations_instance.h"

namespace hostler::api {
namespace test {

enum class Mood { calm, cross };
BOOST_DESCRIBE_ENUM(Mood, calm, cross)

struct Part {
    std::string name;
};
BOOST_DESCRIBE_STRUCT(Part, (), (name))

struct Thing {
    Id<struct ThingTag> thing_id;
    std::string zone_name;
    Mood mood = Mood::calm;
    bool is_open = false;
    std::int64_t disk_bytes = 0;
    std::uint64_t count = 0;
    std::chrono::seconds age{};
    WallTime at;
    std::string memory;
    std::optional<std::string> price{};
    std::optional<int> gpus{};
    double ratio = 0;
    std::vector<std::string> tags{};
    std::vector<Part> parts{};
    std::map<std::string, std::string> labels{};
    Part part{};
    std::string code;
};
BOOST_DESCRIBE_STRUCT(Thing, (),
                      (thing_id, zone_name, mood, is_open, disk_bytes, count, age, at, memory, price, gpus,
                       ratio, tags, parts, labels, part, code))

}  // namespace test

template <>
inline constexpr auto fields<test::Thing> = std::to_array<Field>({
    {.member = "zone_name", .help = "Where."},
    {.member = "disk_bytes", .help = "Disk.", .unit = Unit::bytes},
    {.member = "memory", .help = "Memory.", .form = &forms::quantity},
    {.member = "price", .help = "Price.", .form = &forms::money},
    {.member = "code", .help = "Secret.", .hidden = true},
});

}  // namespace hostler::api

HOSTLER_JSON(hostler::api::test::Thing)
HOSTLER_JSON(hostler::api::List<hostler::api::test::Thing>)

namespace hostler::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ListFields& known() {
    static const ListFields made = list_fields(schema_of<test::Thing>());
    return made;
}

test::Thing thing() {
    test::Thing made{.thing_id = {"t-1"}, .zone_name = "lon", .mood = test::Mood::cross, .is_open = true};
    made.disk_bytes = std::int64_t{3} << 30;
    made.count = ~std::uint64_t{0};
    made.age = std::chrono::seconds{90};
    made.at = *parse_rfc3339("2026-11-28T10:00:00Z");
    made.memory = "32Gi";
    made.tags = {"red", "blue"};
    return made;
}

bool fits(std::string_view text, const test::Thing& one = thing()) {
    const auto query = parse_query(text, known().fields);
    EXPECT_TRUE(query) << text << ": " << (query ? "" : query.error().fields.front().message);
    return query && lets_through(*query, one);
}

std::string wrong(std::string_view text) {
    const auto query = parse_query(text, known().fields);
    return query ? "" : query.error().fields.front().message;
}

TEST(ListQuery, FieldsAreThePlainOnesOfTheItem) {
    std::vector<std::string> all;
    constexpr std::string_view kinds[] = {"text", "words", "number", "cpus", "money", "bytes", "time"};
    for (const QueryField& field : known().fields)
        all.push_back(
            fmt::format("{} {} {}", field.name, kinds[static_cast<int>(field.kind)], field.choices));
    EXPECT_THAT(all, ElementsAre("thingID text ", "zoneName text ", "mood text calm cross",
                                 "isOpen text true false", "diskBytes bytes ", "count number ", "age number ",
                                 "at time ", "memory cpus ", "price money ", "gpus number ", "tags text "));
    EXPECT_EQ(known().fields[1].help, "Where.");
}

TEST(ListQuery, TermsAreAskedOfTheMembers) {
    for (const std::string_view yes :
         {"", "thingID=t-1 zoneName=nj,lon", "mood=cross", "mood!=calm", "isOpen=true", "diskBytes=3",
          "diskBytes>2Gi diskBytes<=3072Mi", "count>7", "age>=90", "at>2026-11-28T09:59:59Z",
          "at=2026-11-28T10:00:00Z", "memory>=8Gi memory<1Ti", "tags=red", "tags=green,blue", "tags!=green"})
        EXPECT_TRUE(fits(yes)) << yes;
    for (const std::string_view no :
         {"thingID=t-2", "zoneName=lon mood=calm", "isOpen=false", "diskBytes=4", "age<90",
          "at<2026-11-28T10:00:00Z", "memory>32Gi", "tags=green", "tags!=red", "tags!=green,blue"})
        EXPECT_FALSE(fits(no)) << no;
}

TEST(ListQuery, WhatIsAbsentIsEmptyAndNoNumber) {
    EXPECT_FALSE(fits("gpus=1"));
    EXPECT_FALSE(fits("gpus<8"));
    EXPECT_TRUE(fits("gpus!=1"));
    EXPECT_FALSE(fits("price<3"));
    test::Thing priced = thing();
    priced.price = "2.49", priced.gpus = 4, priced.tags = {}, priced.zone_name = "";
    EXPECT_TRUE(fits("price<3 gpus>=4 zoneName=''", priced));
    EXPECT_FALSE(fits("tags=red", priced));
    EXPECT_TRUE(fits("tags!=red", priced));
}

TEST(ListQuery, WrongFieldsAreAnsweredWithAllThatThereAre) {
    EXPECT_EQ(
        wrong("zonename=lon"),
        "at 1: there is no field 'zonename'; did you mean 'zoneName'? There are thingID, zoneName, mood, "
        "isOpen, diskBytes, count, age, at, memory, price, gpus, tags");
    for (const std::string_view hidden : {"code=1", "labels=a", "part=a", "parts=a", "ratio=1"})
        EXPECT_THAT(wrong(hidden), HasSubstr("there is no field")) << hidden;
    EXPECT_EQ(wrong("mood=angry"), "at 1: mood: 'angry' is none of calm, cross");
    EXPECT_EQ(wrong("isOpen=yes"), "at 1: isOpen: 'yes' is none of true, false");
    EXPECT_EQ(wrong("at>yesterday"), "at 1: at: 'yesterday' is no time such as 2026-11-28T10:00:00Z");
    EXPECT_EQ(wrong("cross"), "at 1: 'cross' has no field in front; write mood=cross");
}

TEST(ListQuery, InstancesAreAskedByTheirState) {
    const ListFields fields = list_fields(item_of(ops::list_instances));
    const auto query = parse_query("state=running zone=lon", fields.fields);
    ASSERT_TRUE(query);
    Instance instance{.zone = "lon"};
    instance.state = InstanceState::running;
    EXPECT_TRUE(lets_through(*query, instance));
    instance.state = InstanceState::stopped;
    EXPECT_FALSE(lets_through(*query, instance));
}

}  // namespace
}  // namespace hostler::api
