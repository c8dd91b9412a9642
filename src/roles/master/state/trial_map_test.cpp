#include "roles/master/state/trial_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/master/state/live.h"

namespace hostler::master {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::map<std::string, int> rows_of(const TrialMap<std::string, int>& map) { return {map.begin(), map.end()}; }

TEST(TrialMap, IsAfterATrialAsItWasBefore) {
    TrialMap<std::string, int> map;
    map["a"] = 1, map["b"] = 2, map["c"] = 3, map["d"] = 4;
    map.begin_trial();
    map["a"] = 10;
    map.erase("b");
    map["b"] = 20;
    map.erase("c");
    map["e"] = 50;
    map.find("d")->second = 40;
    EXPECT_THAT(rows_of(map), ElementsAre(Pair("a", 10), Pair("b", 20), Pair("d", 40), Pair("e", 50)));
    map.end_trial();
    EXPECT_THAT(rows_of(map), ElementsAre(Pair("a", 1), Pair("b", 2), Pair("c", 3), Pair("d", 4)));
    map.begin_trial();
    for (auto& [key, value] : map) value = 0;
    map.erase_if([](const auto& row) { return row.first == "a"; });
    map.end_trial();
    EXPECT_THAT(rows_of(map), ElementsAre(Pair("a", 1), Pair("b", 2), Pair("c", 3), Pair("d", 4)));
    map["a"] = 7;
    EXPECT_EQ(map.at("a"), 7) << "after the trial changes stay";
}

TEST(TrialMap, ATrialMayBeWithinAnother) {
    TrialMap<std::string, int> map;
    map["a"] = 1;
    map.begin_trial();
    map["a"] = 2, map["b"] = 2;
    map.begin_trial();
    map["a"] = 3, map["c"] = 3;
    map.erase("b");
    map.end_trial();
    EXPECT_THAT(rows_of(map), ElementsAre(Pair("a", 2), Pair("b", 2)));
    map.end_trial();
    EXPECT_THAT(rows_of(map), ElementsAre(Pair("a", 1)));
}

struct Counted {
    int value = 0;
};
struct Derived {
    static constexpr bool follows_estate = true;
    int value = 0;
};

TEST(LiveTrial, UndoesAllButWhatTheEstateDecides) {
    Live live;
    live.hosts["h-1"].session = 1;
    live.access_points["nj"].tunnels = 1;
    live.part<Counted>().value = 1;
    live.part<Derived>().value = 1;
    {
        const Live::Trial trial{live};
        live.hosts["h-1"].session = 2;
        live.hosts["h-2"].session = 2;
        live.access_points["nj"].tunnels = 2;
        live.archiving.insert("name");
        live.workloads_refused = 2;
        live.part<Counted>().value = 2;
        live.part<Derived>().value = 2;
    }
    EXPECT_EQ(live.hosts.at("h-1").session, 1U);
    EXPECT_FALSE(live.hosts.contains("h-2"));
    EXPECT_EQ(live.access_points.at("nj").tunnels, 1U);
    EXPECT_TRUE(live.archiving.empty());
    EXPECT_EQ(live.workloads_refused, 0U);
    EXPECT_EQ(live.part<Counted>().value, 1);
    EXPECT_EQ(live.part<Derived>().value, 2);
}

TEST(LiveTrial, APartThatWasMadeInItIsGone) {
    Live live;
    {
        const Live::Trial trial{live};
        live.part<Counted>().value = 2;
    }
    EXPECT_EQ(live.part<Counted>().value, 0);
}

}  // namespace
}  // namespace hostler::master
