// Clusters while the storm is over them; then each checker of them finds the mistake that it is there for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cluster_users.h"
#include "mistakes.h"
#include "roles/master/cluster/nodes.h"
#include "seeds.h"

namespace hostler::simulation {
namespace {

Case with_clusters(Case which) {
    which.clusters = true;
    which.hosts = 5;
    which.tenants = 1;
    which.storm = 240s;
    which.calm_max = 30min;
    return which;
}

struct ClustersDone {
    int clusters = 0, scaled = 0, saved = 0, deleted = 0, made = 0;
    std::size_t pods = 0, named = 0;
};

ClustersDone expect_clusters_settle(const Case& like, std::uint64_t default_count) {
    const Seeds range = seeds(default_count);
    ClustersDone sum;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        Case which = with_clusters(like);
        which.seed = seed;
        const StormReport report = ride(which);
        EXPECT_FALSE(report.found.any())
            << report.found.text() << "To see it again: ./dev sim --case " << text_of(which);
        if (report.found.any() && std::getenv("HOSTLER_STORY"))
            for (const std::string& line : report.story) fmt::print("{}\n", line);
        sum.clusters += report.clusters;
        sum.scaled += report.scaled;
        sum.saved += report.saved;
        sum.deleted += report.deleted;
        sum.made += report.made;
        sum.pods += report.pods;
        sum.named += report.named;
    }
    fmt::print(
        "{} seeds: {} clusters, {} scaled, {} saved, {} deleted, {} ready at the end; {} pods, in {} "
        "samples\n",
        range.last - range.first + 1, sum.clusters, sum.scaled, sum.saved, sum.deleted, sum.made, sum.pods,
        sum.named);
    return sum;
}

TEST(Clusters, InTheCalmAllComeToWhatWasAsked) {
    const ClustersDone sum = expect_clusters_settle({.weather = Weather::calm}, 2);
    EXPECT_GT(sum.clusters, 0);
    EXPECT_GT(sum.made, 0) << "none was ready: nothing was tried";
    EXPECT_GT(sum.named, 100U) << "pods were hardly looked at";
}

TEST(Clusters, DeathsLeaveNothingBehind) { expect_clusters_settle({.weather = Weather::deaths}, 1); }

TEST(Clusters, EverythingSettles) { expect_clusters_settle({}, 2); }

TEST(Clusters, SeveralMastersAgreeOnThem) { expect_clusters_settle({.masters = 3}, 1); }

}  // namespace
}  // namespace hostler::simulation
