#include <gmock/gmock.h>

#include "api/codec.h"
#include "api/problem.h"
#include "api/types_host.h"
#include "api/types_instance.h"
#include "api/types_zone.h"

namespace hostler::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

template <class T>
std::vector<std::string> wrong(std::string_view text) {
    std::vector<std::string> fields;
    if (const auto read = decode<T>(text); !read)
        for (const FieldError& one : read.error().fields) fields.push_back(one.path);
    return fields;
}

std::vector<std::string> wrong_placement(std::string_view placement) {
    return wrong<CreateInstance>(
        R"({"instanceID":"a","tenantID":"t","image":"i","specName":"s","placement":)" +
        std::string(placement) + "}");
}

TEST(Placement, NamesEveryWrongField) {
    EXPECT_THAT(wrong_placement(R"({"zones":["nj","lon"],"near":"51.5,-0.128","withinKm":20,"gpuMemory":48,
        "labels":{"disk":"nvme","a/b":""},"maxPrice":"2.50","group":"web","apart":"host","spread":"zone"})"),
                IsEmpty());
    EXPECT_THAT(
        wrong_placement(R"({"near":"somewhere, far","gpuMemory":"much","isolation":"vm","maxPrice":"-1",
        "group":"a b","apart":"town","withinKm":30000})"),
        UnorderedElementsAre("placement.near", "placement.gpuMemory", "placement.isolation",
                             "placement.maxPrice", "placement.group", "placement.apart",
                             "placement.withinKm"));
    EXPECT_THAT(wrong_placement(
                    R"({"withinKm":5,"apart":"host","spread":"zone","pack":"rack","labels":{"a b":"c"}})"),
                ElementsAre("placement.withinKm", "placement.pack", "placement.apart", "placement.spread",
                            "placement.pack", "placement.labels.a b"));
    EXPECT_THAT(
        wrong<CreateInstance>(R"({"instanceID":"a","tenantID":"t","image":"i","specName":"s","zone":"nj",
        "placement":{"zones":["lon"]}})"),
        ElementsAre("placement.zones"));
    for (const char* near : {"40.73,-74.17", "-90,180", "lon"})
        EXPECT_THAT(wrong_placement(std::string{R"({"near":")"} + near + R"("})"), IsEmpty()) << near;
    for (const char* near : {"91,0", "0,181", "1.2345678,0", "1,", ",1", "1.,2", "1,2,3", "NJ", "1e1,2"})
        EXPECT_THAT(wrong_placement(std::string{R"({"near":")"} + near + R"("})"),
                    ElementsAre("placement.near"))
            << near;
}

TEST(Placement, ATaskAsksForSomethingInOneWay) {
    EXPECT_THAT(wrong<ExplainPlacement>(R"({"gpus":1})"), IsEmpty());
    EXPECT_THAT(wrong<ExplainPlacement>("{}"), ElementsAre("gpus"));
    EXPECT_THAT(wrong<ExplainPlacement>(R"({"gpus":1,"gpuMilli":500})"), ElementsAre("gpuMilli"));
    EXPECT_THAT(wrong<ExplainPlacement>(R"({"gpus":1,"tasks":[{"gpus":1}]})"), ElementsAre("tasks"));
    EXPECT_THAT(wrong<ExplainPlacement>(R"({"tasks":[{"gpus":1},{"count":2},{"gpus":1,"profile":"1g.10gb",
        "placement":{"pack":"host"}}]})"),
                ElementsAre("tasks[1].gpus", "tasks[2].profile", "tasks[2].placement.pack"));
    EXPECT_THAT(wrong<ExplainPlacement>(R"({"tasks":[{"gpus":1,"count":16},{"gpus":1}]})"),
                ElementsAre("tasks"));
}

TEST(Placement, HostsAreDescribedByWholeWords) {
    EXPECT_THAT(wrong<UpdateHost>(R"({"host":"gpu-07","rack":"","labels":{"disk":""},"trust":"community"})"),
                IsEmpty());
    EXPECT_THAT(wrong<UpdateHost>(R"({"host":"gpu-07","rack":" ","labels":{"":"x"},"trust":"provider"})"),
                UnorderedElementsAre("rack", "labels.", "trust"));
    EXPECT_THAT(wrong<UpdateZone>(R"({"zone":"nj","coordinates":"nj"})"), ElementsAre("coordinates"));
}

TEST(Labels, NamesEveryWrongField) {
    const auto wrong_labels = [](std::string_view labels) {
        return wrong<CreateInstance>(
            R"({"instanceID":"a","tenantID":"t","image":"i","specName":"s","labels":)" + std::string(labels) +
            "}");
    };
    EXPECT_THAT(wrong_labels(R"({"team":"ml","acme.com/stage":"prod"})"), IsEmpty());
    EXPECT_THAT(
        wrong_labels(R"({"te am":"ml","team":"-ml","gpu":"","Acme/x":"a b"})"),
        UnorderedElementsAre("labels.te am", "labels.team", "labels.gpu", "labels.Acme/x", "labels.Acme/x"));
    std::string many = R"({"l0":"x")";
    for (std::size_t i = 1; i < labels_max; ++i) many += fmt::format(R"(,"l{}":"x")", i);
    EXPECT_THAT(wrong_labels(many + "}"), IsEmpty());
    EXPECT_THAT(wrong_labels(many + R"(,"more":"x"})"), ElementsAre("labels"));

    EXPECT_THAT(wrong<UpdateInstance>(R"({"instance":"a","labels":{"team":"ml","an old one":""}})"),
                IsEmpty());
    EXPECT_THAT(wrong<UpdateInstance>(R"({"instance":"a","labels":{"team":"m l","a b":"c"}})"),
                UnorderedElementsAre("labels.team", "labels.a b"));
    EXPECT_THAT(wrong<ListInstances>(R"({"label":"team=ml,gpu"})"), IsEmpty());
    EXPECT_THAT(wrong<ListInstances>(R"({"label":"team=m l"})"), ElementsAre("label"));
    EXPECT_THAT(wrong<ListHosts>(R"({"label":"=nvme"})"), ElementsAre("label"));
}

TEST(Placement, ARefusalHasItsReasonsApart) {
    Error error{.code = Code::conflict, .message = "full", .reason = "insufficient_capacity"};
    error.fields = {{"gpus", "3"}, {"cordoned", "1"}};
    const Problem problem = problem_of(error);
    EXPECT_TRUE(problem.errors.empty());
    EXPECT_EQ(problem.reasons, (std::vector<ProblemReason>{{"gpus", 3}, {"cordoned", 1}}));
    EXPECT_EQ(problem.status, 409);
    error.reason = "placement_impossible";
    EXPECT_EQ(error_of(problem_of(error)).code, Code::exhausted) << "what the command line ends with 6 for";
}

}  // namespace
}  // namespace hostler::api
