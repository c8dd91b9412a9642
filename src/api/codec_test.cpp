#include "api/codec_define.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "api/types_common.h"
#include "api/types_instance.h"
#include "api/types_key.h"
#include "api/types_stock.h"
#include "api/types_zone.h"

namespace hostler::api {
namespace test {

enum class Mood { calm, cross };
BOOST_DESCRIBE_ENUM(Mood, calm, cross)

struct Inner {
    std::string name;
    std::optional<std::int64_t> weight{};
    bool operator==(const Inner&) const = default;
};
BOOST_DESCRIBE_STRUCT(Inner, (), (name, weight))

// A struct as `domain` has them, with every kind of member that can be stored.
struct Stored {
    Id<struct StoredTag> id;
    bool flag = false;
    std::int64_t small = 0;
    std::uint64_t large = 7;
    double ratio = 0;
    std::chrono::nanoseconds span{};
    WallTime at;
    Quantity memory;
    Mood mood = Mood::calm;
    std::vector<Inner> inners;
    std::map<std::string, Inner> by_name;
    std::map<Id<struct StoredTag>, int> by_id;
    std::set<std::string> words;
    std::optional<Inner> maybe{};
    bool operator==(const Stored&) const = default;
};
BOOST_DESCRIBE_STRUCT(Stored, (),
                      (id, flag, small, large, ratio, span, at, memory, mood, inners, by_name, by_id, words,
                       maybe))

}  // namespace test
}  // namespace hostler::api

HOSTLER_JSON(hostler::api::test::Stored)

namespace hostler::api {
namespace {

using test::Stored;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::vector<std::string> complaints(std::string_view json) {
    std::vector<std::string> lines;
    const auto result = decode<T>(json);
    if (result) return lines;
    EXPECT_EQ(result.error().code, Code::invalid);
    for (const FieldError& field : result.error().fields) lines.push_back(field.path + ": " + field.message);
    if (lines.empty()) lines.push_back(result.error().message);
    return lines;
}

TEST(Codec, StoredStructsSurviveTheWayThereAndBack) {
    const Stored stored{.id = {"x-1"},
                        .flag = true,
                        .small = std::numeric_limits<std::int64_t>::min(),
                        .large = std::numeric_limits<std::uint64_t>::max(),
                        .ratio = 0.1,
                        .span = std::chrono::seconds{3},
                        .at = WallTime{std::chrono::microseconds{1'700'000'000'123'456}},
                        .memory = *parse_quantity("1.5Gi"),
                        .mood = test::Mood::cross,
                        .inners = {{"a \"quoted\"\n\x01 ü", 4}, {"b", {}}},
                        .by_name = {{"k", {"c", 1}}},
                        .by_id = {{{"i-1"}, 3}},
                        .words = {"one", "two"},
                        .maybe = test::Inner{"m", {}}};
    const std::string text = encode(stored);
    const auto back = decode_stored<Stored>(text);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, stored) << text;
    EXPECT_EQ(*decode_stored<Stored>(encode(Stored{})), Stored{});
}

TEST(Codec, StoredKeepsInitialisersAndPassesOverWhatItDoesNotKnow) {
    const auto stored = decode_stored<Stored>(R"({"small": 3, "fromTheFuture": {"a": [1]}, "mood": null})");
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(stored->small, 3);
    EXPECT_EQ(stored->large, 7U);
    EXPECT_FALSE(decode_stored<Stored>(R"({"small": "three"})"));
    EXPECT_FALSE(decode_stored<Stored>(R"({"mood": "furious"})"));
}

TEST(Codec, FieldsOfANewerReleaseOutliveARewrite) {
    const std::string before = R"({"small":3,"newer":[1,2],"maybe":{"name":"m","colour":"red"}})";
    auto stored = *decode_stored<Stored>(before);
    stored.small = 4;
    const auto after = *parse_json(encode_onto(stored, before));
    EXPECT_EQ(after.at("small").as_int64(), 4);
    EXPECT_EQ(after.at("newer").as_array().size(), 2U);
    EXPECT_EQ(after.at("maybe").at("colour").as_string(), "red");
    stored.maybe.reset();  // What we took away ourselves stays away.
    EXPECT_FALSE(parse_json(encode_onto(stored, before))->as_object().contains("maybe"));
    EXPECT_EQ(encode_onto(stored, ""), encode(stored));
    EXPECT_EQ(encode_onto(stored, "{{{"), encode(stored));
}

TEST(Codec, KeepsWhatItDoesNotKnowInListsAndMaps) {
    const std::string before =
        R"({"items":[{"name":"a","new":1},{"name":"b","new":2},{"name":"c","new":3}]})";
    auto stored = *decode_stored<List<Zone>>(before);
    ASSERT_EQ(stored.items.size(), 3u);
    stored.items.erase(stored.items.begin());
    stored.items.back().location = "changed";
    bool beyond = false;
    ASSERT_TRUE(decode_stored<List<Zone>>(before, &beyond));
    EXPECT_TRUE(beyond);
    ASSERT_TRUE(decode_stored<List<Zone>>(encode(stored), &beyond));
    EXPECT_FALSE(beyond);
    const std::string full = encode(*decode_stored<List<Zone>>(before));
    std::string marked = full;
    for (const char* name : {"a", "b", "c"}) {
        const std::string mark = fmt::format("\"name\":\"{}\"", name);
        marked.replace(marked.find(mark), mark.size(), fmt::format("{},\"new\":\"of {}\"", mark, name));
    }
    const auto after = *parse_json(encode_onto(stored, marked));
    const auto& items = after.at("items").as_array();
    EXPECT_EQ(items.at(0).at("new").as_string(), "of b") << "the first has gone, and nobody takes its part";
    EXPECT_FALSE(items.at(1).as_object().contains("new")) << "it is another now";
}

TEST(Codec, NamesEveryWrongFieldWithItsPath) {
    EXPECT_THAT(
        complaints<CreateInstance>(R"({
        "instanceID": "a b", "tenantID": 4, "image": "x", "specNmae": "h100",
        "template": {"ports": [{"port": 80}, {"port": 0}, {"port": 70000, "protocol": "UDP"}, {"port": "80"},
                               {"port": 1.5, "protocol": "SMTP"}],
                     "envs": {}, "volumes": [{"name": "v", "mountPath": "data"}]}})"),
        ElementsAre(
            "instanceID: must be 1 to 128 letters, digits, '.', '_' or '-', with a letter or digit first",
            "tenantID: must be a text", "specName: is required",
            "template.ports[1].port: must be between 1 and 65535",
            "template.ports[2].port: must be between 1 and 65535",
            "template.ports[2].protocol: must be TCP: nothing else is served",
            "template.ports[3].port: must be a whole number",
            "template.ports[4].port: must be a whole number",
            "template.ports[4].protocol: must be one of TCP, UDP, SCTP", "template.envs: must be a list",
            "template.volumes[0].mountPath: must be an absolute path, as /data",
            "specNmae: unknown field; did you mean 'specName'?"));
}

TEST(Codec, ChecksRulesBetweenFields) {
    EXPECT_THAT(
        complaints<CreateInstance>(R"({
        "instanceID": "a", "tenantID": "t", "image": "x", "specName": "h100",
        "template": {"ports": [{"port": 80}, {"port": 80}], "envs": [{"name": "A"}, {"name": "A"}],
                     "volumes": [{"mountPath": "/a"}, {"name": "v", "mountPath": "/a"}]}})"),
        ElementsAre(
            "template.ports[1].port: appears twice", "template.envs[1].name: appears twice",
            "template.volumes[1].mountPath: appears twice",
            "template.volumes[0].name: is required, because storageID names no volume to stand for it"));
    EXPECT_THAT(
        complaints<CreateInstance>(R"({
        "instanceID": "a", "tenantID": "t", "image": "x", "specName": "h100", "storageID": "v",
        "template": {"volumes": [{"mountPath": "/data"}, {"mountPath": "//data/./"}, {"mountPath": "/proc"},
                                 {"mountPath": "/dev/"}, {"mountPath": "/sys/fs/x"}, {"mountPath": "/./"},
                                 {"mountPath": "/processes"}]}})"),
        ElementsAre(
            "template.volumes[1].mountPath: appears twice",
            "template.volumes[2].mountPath: must not lie in /proc, where the container finds the kernel's "
            "own",
            "template.volumes[3].mountPath: must not lie in /dev, where the container finds the kernel's own",
            "template.volumes[4].mountPath: must not lie in /sys, where the container finds the kernel's own",
            "template.volumes[5].mountPath: must not be the root of the container"));
    EXPECT_THAT(complaints<CreateApiKey>(R"({"name": "ci"})"),
                ElementsAre("tenantID: is required, unless isOperator is true"));
    EXPECT_THAT(complaints<CreateApiKey>(R"({"name": "ci", "tenantID": "a", "isOperator": true})"),
                ElementsAre("tenantID: must be left out for an operator's key"));
    // A tenantID that is wrong by itself is told once.
    EXPECT_EQ(complaints<CreateApiKey>(R"({"name": "ci", "tenantID": "-", "isOperator": true})").size(), 1U);
}

TEST(Codec, TakesNullForWhatMayBeAbsent) {
    // As Go writes slices that were never made.
    const auto request = decode<CreateInstance>(R"({"instanceID": "a", "tenantID": "t", "image": "x",
        "specName": "s", "storageID": null,
        "template": {"ports": null, "envs": null, "cmd": "", "volumes": null}})");
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_THAT(complaints<DeleteStocks>(R"({"number": null, "specName": "s"})"),
                ElementsAre("number: must be a whole number"));
}

TEST(Codec, ReadsQuantitiesAsTextOrNumberAndRefusesNonsense) {
    const auto stocks = [](std::string_view cpu) {
        return fmt::format(
            R"({{"number":1,"specName":"s","cpu":{},"memory":"1Gi","gpuType":"x","gpuNum":1}})", cpu);
    };
    EXPECT_EQ(decode<CreateStocks>(stocks("8"))->cpu, "8");
    EXPECT_EQ(decode<CreateStocks>(stocks("0.5"))->cpu, "0.5");
    EXPECT_EQ(decode<CreateStocks>(stocks("\"500m\""))->cpu, "500m");
    EXPECT_THAT(complaints<CreateStocks>(stocks("\"8 cores\"")),
                ElementsAre(HasSubstr("cpu: '8 cores' has")));
    EXPECT_THAT(complaints<CreateStocks>(stocks("\"0\"")), ElementsAre("cpu: must be above zero"));
    EXPECT_THAT(complaints<CreateStocks>(stocks("-1")), ElementsAre("cpu: must be above zero"));
}

TEST(Codec, BoundsIntegersByFieldAndByType) {
    EXPECT_THAT(complaints<DeleteStocks>(R"({"number": 18446744073709551615, "specName": "s"})"),
                ElementsAre("number: must be between 1 and 10000"));
    EXPECT_THAT(complaints<Stored>(R"({"small": 18446744073709551615})"),
                testing::Contains("small: must be between -9223372036854775808 and 9223372036854775807"));
    EXPECT_THAT(complaints<Stored>(R"({"large": -1})"),
                testing::Contains("large: must be between 0 and 18446744073709551615"));
}

// What is read and written again is the same to the last bit, or a price would wander.
TEST(Codec, ReadsTheNearestDouble) {
    std::mt19937_64 dice{1};
    for (int i = 0; i < 20'000; ++i) {
        const auto number = std::bit_cast<double>(dice());
        if (!std::isfinite(number)) continue;
        const std::string text = fmt::format("{:.17e}", number);
        const auto read = parse_json(text);
        ASSERT_TRUE(read) << text;
        ASSERT_EQ(read->as_double(), number) << text;
    }
    EXPECT_EQ(parse_json("259044444404904449994")->as_double(), 259044444404904449994.0);
    EXPECT_EQ(parse_json("0e999")->as_double(), 0);
    EXPECT_EQ(parse_json("1e-999")->as_double(), 0);
    EXPECT_THAT(complaints<Stored>(R"({"small": 1.8e308})"), ElementsAre(HasSubstr("a number is too large")));
}

TEST(Codec, SaysWhereJsonIsMalformed) {
    EXPECT_THAT(complaints<Empty>("{\n  \"a\": 1,\n  \"b\" 2}"),
                ElementsAre("malformed JSON at line 3, column 7: '2' does not belong here"));
    EXPECT_THAT(complaints<Empty>("{\"a\": [1, 2"), ElementsAre(HasSubstr("it ends too early")));
    EXPECT_THAT(complaints<Empty>("{} {}"), ElementsAre(HasSubstr("something follows the end")));
    EXPECT_THAT(complaints<Empty>(""), ElementsAre(HasSubstr("there is none")));
    EXPECT_THAT(complaints<Empty>("{\"a\": {\"b\": 1, \"\\u0062\": 2}}"),
                ElementsAre(HasSubstr("'b' appears twice")));
    EXPECT_THAT(complaints<Empty>("{\"a\": \"\xff\"}"), ElementsAre(HasSubstr("line 1, column 8")));
    EXPECT_THAT(complaints<Empty>("{\"a\": \"line\nbreak\"}"), ElementsAre(HasSubstr("control character")));
    EXPECT_THAT(complaints<Empty>("[]"), ElementsAre(": must be an object"));
    const auto nested = [](int n) { return "{\"a\":" + std::string(n, '[') + std::string(n, ']') + "}"; };
    EXPECT_TRUE(parse_json(nested(31)));
    EXPECT_THAT(complaints<Empty>(nested(32)), ElementsAre(HasSubstr("nested more than 32 deep")));
    EXPECT_THAT(complaints<Empty>("{\"a\":\"" + std::string(body_max, 'x') + "\"}"),
                ElementsAre(HasSubstr("larger than")));
}

TEST(Codec, TellsABoundedNumberOfErrors) {
    std::string json = "{";
    for (int i = 0; i < 1000; ++i) json += fmt::format("\"x{}\": 1,", i);
    json.back() = '}';
    EXPECT_EQ(complaints<Empty>(json).size(), errors_max);
}

TEST(Codec, NeverWritesInvalidUtf8) {
    const Logs logs{.text = "ok \xff\xfe \xe2\x82\xac \xe2\x82 \xed\xa0\x80 \xf0\x9f\x90\xb4"};
    const auto back = decode<Logs>(encode(logs));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_THAT(back->text, HasSubstr("\xe2\x82\xac"));
    EXPECT_THAT(back->text, HasSubstr("\xf0\x9f\x90\xb4"));
    EXPECT_THAT(back->text, HasSubstr("\xef\xbf\xbd"));
}

TEST(Codec, SpellsNamesAsTheSourceDoes) {
    EXPECT_EQ(json_name("spec_name"), "specName");
    EXPECT_EQ(json_name("instance_id"), "instanceID");
    EXPECT_EQ(json_name("id"), "id");
    EXPECT_EQ(json_name("gpu_ids"), "gpuIds");
    EXPECT_EQ(json_name("base_url"), "baseUrl");
    EXPECT_EQ(json_name("template_"), "template");
    EXPECT_EQ(schema_of<List<Zone>>().name, "ZoneList");
    EXPECT_EQ(schema_of<Instance>().find("state")->schema->name, "InstanceState");
}

TEST(Nearest, FindsWhatWasMeantAndNothingElse) {
    EXPECT_EQ(nearest("imgae", {"image", "imageID"}), "image");
    EXPECT_EQ(nearest("SPECNAME", {"specName", "zone"}), "specName");
    EXPECT_EQ(nearest("colour", {"image", "zone"}), "");
}

}  // namespace
}  // namespace hostler::api
