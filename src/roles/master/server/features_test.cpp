#include <gtest/gtest.h>

#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>

#include "roles/master/state/feature.h"

namespace hostler::master {
namespace {

TEST(Features, EachVerbBelongsToOneFeature) {
    std::map<Verb, std::vector<std::string_view>> owners;
    for (const Feature* feature : features())
        for (const VerbRow& row : feature->verbs) {
            EXPECT_TRUE(row.answered) << feature->name;
            owners[row.verb].push_back(feature->name);
        }
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<Verb>>(
        [&](auto verb) { EXPECT_EQ(owners[verb.value].size(), 1U) << verb.name; });
}

TEST(Features, EachHasAName) {
    std::set<std::string_view> names;
    for (const Feature* feature : features())
        EXPECT_TRUE(names.insert(feature->name).second) << feature->name;
}

}  // namespace
}  // namespace hostler::master
