#include "domain/labels.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(Labels, NamesAndValuesAreThoseOfKubernetes) {
    const std::string longest(63, 'a'), prefix = std::string(63, 'p') + "." + std::string(63, 'p');
    for (const std::string& name :
         {std::string{"team"}, std::string{"a"}, std::string{"Team_1.x-y"}, longest,
          std::string{"ml.acme.com/team"}, std::string{"x/y"}, prefix + "/" + longest})
        EXPECT_EQ(wrong_label_name(name), "") << name;
    for (const std::string& name :
         {std::string{}, std::string{"-a"}, std::string{"a-"}, std::string{".a"}, std::string{"a b"},
          std::string{"a=b"}, longest + "a", std::string{"/a"}, std::string{"a/"}, std::string{"a/b/c"},
          std::string{"Acme/team"}, std::string{"a..b/team"}, std::string{"-a/team"}, prefix + "p/team",
          prefix + "." + prefix + "/team", std::string{"\xc3\xa9"}})
        EXPECT_NE(wrong_label_name(name), "") << name;
    for (const std::string& value : {std::string{}, std::string{"ml"}, std::string{"A_b.c-1"}, longest})
        EXPECT_EQ(wrong_label_value(value), "") << value;
    for (const std::string& value :
         {std::string{"-a"}, std::string{"a."}, std::string{"a/b"}, std::string{"a b"}, longest + "a"})
        EXPECT_NE(wrong_label_value(value), "") << value;
}

TEST(Labels, ChangesSetAndTakeAway) {
    EXPECT_EQ(with_changes({{"a", "1"}, {"b", "2"}}, {{"b", ""}, {"c", "3"}, {"d", ""}, {"a", "9"}}),
              (Labels{{"a", "9"}, {"c", "3"}}));
}

TEST(Labels, AFilterWantsEachOfItsLabels) {
    const auto fits = [](std::string_view text) {
        return parse_label_filter(text).value().fits({{"team", "ml"}, {"ml.acme.com/stage", "prod"}});
    };
    EXPECT_TRUE(fits("team=ml"));
    EXPECT_TRUE(fits("team"));
    EXPECT_TRUE(fits("ml.acme.com/stage=prod,team"));
    EXPECT_FALSE(fits("team=m"));
    EXPECT_FALSE(fits("team="));
    EXPECT_FALSE(fits("stage"));
    EXPECT_FALSE(fits("team=ml,other"));
    for (const char* wrong : {"", "=ml", "team=ml,", ",team", "team==ml", "team=m l", "te am"})
        EXPECT_FALSE(parse_label_filter(wrong)) << wrong;
    EXPECT_EQ(parse_label_filter("team=ml,te am").error().message.substr(0, 7), "'te am'");
    std::string many = "l0";
    for (std::size_t i = 1; i < labels_max; ++i) many += ",l" + std::to_string(i);
    EXPECT_TRUE(parse_label_filter(many));
    EXPECT_FALSE(parse_label_filter(many + ",x"));
}

}  // namespace
}  // namespace hostler
