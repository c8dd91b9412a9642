#include "api/query.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types_offer.h"

namespace hostler::api {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

// As "field op value|value @where; …".
std::string read(std::string_view text) {
    const auto query = parse_query(text, offer_fields);
    if (!query) {
        std::string all;
        for (const FieldError& wrong : query.error().fields) all += fmt::format("{}\n", wrong.message);
        return "wrong: " + all;
    }
    constexpr std::string_view signs[] = {"=", "!=", ">=", "<=", ">", "<"};
    std::string all;
    for (const QueryTerm& term : *query)
        all += fmt::format("{} {} {} @{}; ", offer_fields[term.field].name,
                           signs[static_cast<int>(term.comparison)],
                           term.numbers.empty() ? fmt::format("{}", fmt::join(term.texts, "|"))
                                                : fmt::format("{}", fmt::join(term.numbers, "|")),
                           term.at);
    return all;
}

std::vector<std::string> wrongs(std::string_view text) {
    const auto query = parse_query(text, offer_fields);
    std::vector<std::string> all;
    if (query) return all;
    EXPECT_EQ(query.error().code, Code::invalid);
    for (const FieldError& wrong : query.error().fields) {
        EXPECT_EQ(wrong.path, "query");
        all.push_back(wrong.message.substr(0, wrong.message.find(':')));
    }
    return all;
}

TEST(Query, TermsAreJoinedByBlanksOrAnd) {
    EXPECT_EQ(read(""), "");
    EXPECT_EQ(read("   "), "");
    EXPECT_EQ(read("gpu_memory>=48 zone=lon"),
              fmt::format("gpu_memory >= {} @1; zone = lon @16; ", 48 * gib));
    EXPECT_EQ(read(" zone = lon  and  gpus < 8 AND trust!=community"),
              "zone = lon @2; gpus < 8 @19; trust != community @32; ");
    EXPECT_EQ(read("zone=lon,nj , 'par'"), "zone = lon|nj|par @1; ");
    EXPECT_EQ(read("gpu_type=\"H100 SXM5\" spec='a=b'"), "gpu_type = H100 SXM5 @1; spec = a=b @22; ");
    EXPECT_EQ(read("zone=and and zone=and"), "zone = and @1; zone = and @14; ");
}

TEST(Query, AWordAloneIsToldWhoseValueItIs) {
    EXPECT_EQ(read("h100"), "wrong: at 1: 'h100' has no field in front; write gpu_type=h100\n");
    EXPECT_EQ(read("zone=lon community"),
              "wrong: at 10: 'community' has no field in front; write trust=community\n");
    EXPECT_EQ(read("zone"), "wrong: at 1: 'zone' is not compared with anything; write zone=VALUE\n");
}

TEST(Query, WhatHasChoicesTakesOneOfThem) {
    EXPECT_EQ(read("trust=trusted,community vendor!=amd"),
              "trust = trusted|community @1; vendor != amd @25; ");
    EXPECT_EQ(read("trust=trustd"), "wrong: at 1: trust: 'trustd' is none of trusted, community\n");
    EXPECT_EQ(read("trust=trust"), "wrong: at 1: trust: 'trust' is none of trusted, community\n");
    EXPECT_EQ(read("zone=nowhere"), "zone = nowhere @1; ") << "names may be anything";
}

TEST(Query, AnEmptyValueStandsInQuotationMarks) {
    EXPECT_EQ(read("zone='' spec!=\"\" trust=''"), "zone =  @1; spec !=  @9; trust =  @18; ");
    EXPECT_EQ(wrongs("gpus=''"), (std::vector<std::string>{"at 1"}));
    EXPECT_EQ(wrongs("zone="), (std::vector<std::string>{"at 6"}));
}

TEST(Query, NumbersAreQuantities) {
    EXPECT_EQ(read("cpu>500m cpu>=1.5 cpu=2k"), "cpu > 500 @1; cpu >= 1500 @10; cpu = 2000000 @19; ");
    EXPECT_EQ(
        read("memory=1Gi memory=1 memory=1024Mi memory=1G"),
        fmt::format("memory = {0} @1; memory = {0} @12; memory = {0} @21; memory = 1000000000 @35; ", gib))
        << "a number without a unit is GiB";
    EXPECT_EQ(read("gpu_memory>0.5"), fmt::format("gpu_memory > {} @1; ", gib / 2));
    EXPECT_EQ(read("price<2.49"), "price < 2490000 @1; ") << "millionths";
    EXPECT_EQ(read("gpus=1,2,4"), "gpus = 1|2|4 @1; ");
}

TEST(Query, EveryWrongTermIsNamedWithItsPlace) {
    using Places = std::vector<std::string>;
    EXPECT_EQ(wrongs("tpu=1 zone=lon cost<3"), (Places{"at 1", "at 16"}));
    EXPECT_EQ(wrongs("zone tpu=1 gpus>=many zone>nj"), (Places{"at 1", "at 6", "at 12", "at 23"}));
    EXPECT_EQ(wrongs("gpus>=many zone>nj cpu=x gpus=1.5"), (Places{"at 1", "at 12", "at 20", "at 26"}));
    EXPECT_EQ(wrongs("zone==lon gpus=<3"), (Places{"at 5", "at 15"}));
    EXPECT_EQ(wrongs("zone= gpus= trust=trusted"), (Places{"at 11"})) << "gpus is taken for the value";
    EXPECT_EQ(wrongs("gpus="), (Places{"at 6"}));
    EXPECT_EQ(wrongs("zone=lon, gpus"), (Places{})) << "a value may be any word";
    EXPECT_EQ(wrongs("zone=lon,"), (Places{"at 10"}));
    EXPECT_EQ(wrongs("spec='never closed"), (Places{"at 6"}));
    EXPECT_EQ(wrongs("spec='a'b zone=lon"), (Places{"at 9"}));
    EXPECT_EQ(wrongs("gpus>1,2"), (Places{"at 1"}));
    EXPECT_EQ(wrongs("=3 (zone=lon) ,"), (Places{"at 1", "at 4", "at 15"}));
    EXPECT_EQ(wrongs("and zone=lon"), (Places{"at 1"}));
    EXPECT_EQ(wrongs("zone=lon and and gpus=1"), (Places{"at 14"}));
    EXPECT_EQ(wrongs("zone=lon and"), (Places{"at 10"}));
    EXPECT_EQ(wrongs("price<cheap price>1e3"), (Places{"at 1", "at 13"}));
    EXPECT_EQ(wrongs("gpus=-1"), (Places{"at 1"}));
    EXPECT_EQ(wrongs("memory=99999999999999999999"), (Places{"at 1"})) << "beyond any number";
}

TEST(Query, HasLimits) {
    std::string many, values = "zone=a";
    for (std::size_t i = 0; i <= query_terms_max; ++i) many += "gpus=1 ";
    for (std::size_t i = 0; i < query_values_max; ++i) values += ",a";
    EXPECT_EQ(wrongs(many).size(), 1u);
    EXPECT_EQ(wrongs(values).size(), 1u);
    EXPECT_EQ(wrongs(values.substr(0, values.size() - 2)).size(), 0u);
    const std::string longest = "zone=" + std::string(query_length_max - 5, 'a');
    EXPECT_EQ(wrongs(longest).size(), 0u);
    EXPECT_EQ(wrongs(longest + "a").size(), 1u);
}

bool holds(std::string_view text, const QueryValue& value) {
    const auto query = parse_query(text, offer_fields);
    HOSTLER_ASSERT(query && query->size() == 1);
    return matches(query->front(), offer_fields[query->front().field].kind, value);
}

TEST(Query, Compares) {
    const auto number = [](std::int64_t n) { return QueryValue{n}; };
    for (const auto& [text, three, four, five] : {std::tuple{"gpus=4", false, true, false},
                                                  {"gpus!=4", true, false, true},
                                                  {"gpus>=4", false, true, true},
                                                  {"gpus<=4", true, true, false},
                                                  {"gpus>4", false, false, true},
                                                  {"gpus<4", true, false, false},
                                                  {"gpus=3,5", true, false, true},
                                                  {"gpus!=3,5", false, true, false}}) {
        EXPECT_EQ(holds(text, number(3)), three) << text;
        EXPECT_EQ(holds(text, number(4)), four) << text;
        EXPECT_EQ(holds(text, number(5)), five) << text;
    }
    EXPECT_TRUE(holds("zone=lon,nj", QueryValue{"nj"}));
    EXPECT_FALSE(holds("zone=lon,nj", QueryValue{"nj2"}));
    EXPECT_FALSE(holds("zone!=lon,nj", QueryValue{"nj"}));
    EXPECT_TRUE(holds("gpu_type=h100", QueryValue{"H100 SXM5 80GB"})) << "by its words";
    EXPECT_FALSE(holds("gpu_type!='h100 80gb'", QueryValue{"H100 SXM5 80GB"}));
    EXPECT_FALSE(holds("spec=h100", QueryValue{"h100-1"}));
}

TEST(Query, OrdersByFields) {
    const auto order = parse_order("zone,-available", offer_fields);
    ASSERT_TRUE(order && order->size() == 2);
    EXPECT_EQ(offer_fields[order->at(0).field].name, "zone");
    EXPECT_FALSE(order->at(0).highest_first);
    EXPECT_EQ(offer_fields[order->at(1).field].name, "available");
    EXPECT_TRUE(order->at(1).highest_first);
    EXPECT_TRUE(parse_order("", offer_fields)->empty());
    const auto wrong = parse_order("cost,zone,-", offer_fields);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().fields.size(), 2u);
    const auto twice = parse_order("zone,gpus,-zone", offer_fields);
    ASSERT_FALSE(twice);
    ASSERT_EQ(twice.error().fields.size(), 1u);
    EXPECT_EQ(twice.error().fields[0].message, "zone stands twice");
    EXPECT_EQ(parse_order(std::string(200, ','), offer_fields).error().fields.size(), query_terms_max);
}

}  // namespace
}  // namespace hostler::api
