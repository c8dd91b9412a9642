// YAML as JSON: types, bounds, lines; and back.
#include "cli/yaml.h"

#include <gmock/gmock.h>

#include "api/indent.h"

namespace hostler::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Pair;

std::string as_json(std::string_view yaml) {
    const auto parsed = parse_yaml(yaml);
    if (!parsed) return parsed.error().message;
    std::string out;
    for (const Document& one : *parsed) out += (out.empty() ? "" : " ") + api::compact(one.value);
    return out;
}

TEST(Yaml, TypesFollowJson) {
    EXPECT_EQ(as_json("a: 1\nb: \"1\"\nc: '1'\nd: -2.50\ne: 1e3\n"),
              R"({"a":1,"b":"1","c":"1","d":-2.5,"e":1000})");
    EXPECT_EQ(as_json("[no, yes, on, off, n, y, No, True, NULL, true, false]"),
              R"(["no","yes","on","off","n","y","No","True",null,true,false])");
    EXPECT_EQ(as_json("[010, 0x1f, 0o17, 1_000, +1, .5, 5., .inf, 1:30, 2026-11-21, 1.2.3]"),
              R"(["010","0x1f","0o17","1_000","+1",".5","5.",".inf","1:30","2026-11-21","1.2.3"])");
    EXPECT_EQ(as_json("a:\nb: ~\nc: null\nd: ''\ne: \"~\"\n"),
              R"({"a":null,"b":null,"c":null,"d":"","e":"~"})");
    EXPECT_EQ(as_json("- 9223372036854775807\n- 18446744073709551615\n"),
              "[9223372036854775807,18446744073709551615]");
    EXPECT_EQ(as_json("a: |\n  x\n  1\nb: >-\n  1\nc: !!str 2\nd: !!int 3\n"),
              R"({"a":"x\n1\n","b":"1","c":"2","d":3})");
    EXPECT_EQ(as_json("8080: x\ntrue: y\n"), R"({"8080":"x","true":"y"})");
    EXPECT_EQ(as_json("image: docker.io/library/nginx:1.27"), R"({"image":"docker.io/library/nginx:1.27"})");
}

TEST(Yaml, ReadsManyDocumentsAndJson) {
    EXPECT_EQ(as_json("a: 1\n---\n# nothing\n---\n- b\n...\n"), R"({"a":1} null ["b"])");
    EXPECT_EQ(as_json(R"({"a": [1, {"b": "\u00e4\n"}], "c": {}, "d": []})"),
              "{\"a\":[1,{\"b\":\"ä\\n\"}],\"c\":{},\"d\":[]}");
    EXPECT_EQ(as_json(""), "");
}

TEST(Yaml, AnchorsStandForTheirValues) {
    EXPECT_EQ(as_json("a: &x {b: [1, &y no]}\nc: *x\nd: *y\n"),
              R"({"a":{"b":[1,"no"]},"c":{"b":[1,"no"]},"d":"no"})");
    EXPECT_THAT(as_json("a: &x [*x]\n"), HasSubstr("inside what it refers to"));
    EXPECT_THAT(as_json("a: &x 1\n---\nb: *x\n"), HasSubstr("line 3"));
    EXPECT_THAT(as_json("a: &x {b: 1}\nc:\n  <<: *x\n"), HasSubstr("line 3, column 3: << merges"));
}

TEST(Yaml, BombsAreRefused) {
    std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 9; ++i) {
        bomb += fmt::format("a{}: &a{} [", i, i);
        for (int n = 0; n < 9; ++n) bomb += fmt::format("{}*a{}", n > 0 ? "," : "", i - 1);
        bomb += "]\n";
    }
    EXPECT_THAT(as_json(bomb), HasSubstr("more than 100000 values"));
    std::string large = "a: &a " + std::string(1 << 20, 'x') + "\nb: [";
    for (int i = 0; i < 9; ++i) large += i > 0 ? ",*a" : "*a";
    EXPECT_THAT(as_json(large + "]\n"), HasSubstr("larger than 8388608 bytes"));
    EXPECT_EQ(as_json(std::string(32, '[') + std::string(32, ']')).size(), 64U);
    EXPECT_THAT(as_json(std::string(33, '[') + std::string(33, ']')), HasSubstr("more than 32 deep"));
    EXPECT_FALSE(parse_yaml(std::string(20'000, '[')));
    EXPECT_THAT(as_json("a: &a " + std::string(20, '[') + std::string(20, ']') +
                        "\nb: " + std::string(20, '[') + "*a" + std::string(20, ']')),
                HasSubstr("more than 32 deep"));
}

TEST(Yaml, SaysWhereItIsWrong) {
    EXPECT_THAT(as_json("a: 1\nb: [1\nc: 2\n"), HasSubstr("line "));
    EXPECT_EQ(as_json("a: 1\nb: 2\na: 3\n"), "line 3, column 1: 'a' appears twice");
    EXPECT_EQ(as_json("? [1, 2]\n: x\n"), "line 1, column 3: a key must be a text");
    EXPECT_EQ(as_json("~: x\n"), "line 1, column 1: a key must be a text");
    EXPECT_THAT(as_json("a: !!binary aGk=\n"),
                HasSubstr("the tag tag:yaml.org,2002:binary has no type in JSON"));
    EXPECT_THAT(as_json("a: !mine {b: 1}\n"), HasSubstr("the tag !mine has no type in JSON"));
    EXPECT_THAT(as_json("a: *nobody\n"), HasSubstr("line 1"));
    EXPECT_EQ(as_json(","), "line 1, column 1: this does not belong here");
    EXPECT_EQ(as_json("---\n---\n"), "null null");
    EXPECT_EQ(as_json("a: 1\n---\n, b\n"), "line 3, column 1: this does not belong here");
    EXPECT_EQ(as_json("a: 1\nb: gr\xFCn\n"), "line 2, column 4: the text is not UTF-8");
    EXPECT_EQ(as_json("gr\xFCn: 1\n"), "line 1, column 1: the text is not UTF-8");
    EXPECT_EQ(as_json("[\"\xEF\xBF\xEF\xBF\"]"), "line 1, column 2: the text is not UTF-8");
}

TEST(Yaml, KnowsTheLineOfEachPart) {
    const auto parsed = parse_yaml(
        "a: 1\n---\nname: x\ntemplate:\n  ports:\n    - port: 1\n    - port: 2\n      isPublic: no\n");
    ASSERT_TRUE(parsed);
    Document document = (*parsed)[1];
    EXPECT_THAT(document.lines,
                IsSupersetOf({Pair("", 3), Pair("name", 3), Pair("template", 5),
                              Pair("template.ports[0].port", 6), Pair("template.ports[1].isPublic", 8)}));
    document.file = "cloud.yaml";
    document.only = false;
    EXPECT_EQ(document.place("template.ports[1].isPublic"), "cloud.yaml:8, document 2");
    EXPECT_EQ(document.place("template.ports[1].nothing"), "cloud.yaml:7, document 2");
    document.only = true;
    document.lines.clear();
    EXPECT_EQ(document.place("name"), "cloud.yaml");
}

TEST(Yaml, WhatIsWrittenReadsBackTheSame) {
    json::array all =
        json::parse(
            R"([null, true, 0, -5, 1.5, -0.0, 1e300, 93.0, 18446744073709551615, [], {}, [[1], [[]], {}]])")
            .as_array();
    for (const auto* text :
         {"",     " ",      "no",     "Yes",          "null",   "~",         "1",    "1.5", "-",    "- x",
          "a: b", "a #b",   "#",      "&a",           "*a",     "!x",        "|",    ">",   "%",    "@x",
          "`",    "'",      "\"",     "\\",           "\n",     "a\nb\n",    "\t",   "x\r", "\x01", "\x7f",
          "ä€😀", "\u0085", "\u0090", "\u2028\u2029", "\ufeff", "\uffff",    "---",  "...", "[a]",  "{a}",
          "? x",  "=",      "<<",     "0x1f",         "plain",  "a/b-c.d_e", "key:", "true"})
        all.push_back(json::object{{text, text}, {"inner", json::array{text, json::object{{"x", text}}}}});
    for (const std::size_t length : {1022, 1023, 1024, 1025, 4000}) {
        const std::string key(length, 'k');
        all.push_back(
            json::object{{key, 1}, {key + "\n", json::array{json::object{{key + "#", json::object{}}}}}});
    }
    const std::string yaml = to_yaml(all);
    const auto back = parse_yaml(yaml);
    ASSERT_TRUE(back) << back.error().message << "\n" << yaml;
    ASSERT_EQ(back->size(), 1U);
    EXPECT_EQ(api::compact(back->front().value), api::compact(all));
}

}  // namespace
}  // namespace hostler::cli
