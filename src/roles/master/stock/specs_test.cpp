#include "roles/master/stock/specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_spec.h"
#include "api/types_stock.h"
#include "roles/master/stock/images.h"
#include "roles/master/stock/slots.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::HasSubstr;

const api::CreateSpec two_gpus{
    .name = "pair", .cpu = "4", .memory = "16Gi", .gpu_type = "H100 SXM5 80GB", .gpu_num = 2};

TEST(Specs, OneIsMadeWithoutStockAndTheSameAgainIsTheSame) {
    DeskRig rig;
    EXPECT_EQ((*create_spec(rig.desk, two_gpus))->memory_bytes, std::int64_t{16} << 30);
    EXPECT_EQ(rig.take().events.at(0).reason, "created");
    api::CreateSpec again = two_gpus;
    again.cpu = "4000m";
    EXPECT_TRUE(create_spec(rig.desk, again));
    EXPECT_TRUE(rig.estate.unchanged());
    again.gpu_num = 1;
    const auto refused = create_spec(rig.desk, again);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "spec_differs");
    EXPECT_THAT(refused.error().message, HasSubstr("2 x H100"));
}

TEST(Specs, OneIsChangedAndDeletedWhileNothingIsMadeOfIt) {
    DeskRig rig;
    rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(1, "small"));
    EXPECT_EQ(update_spec(rig.desk, {.spec = "small", .memory = "64Gi"}).error().reason, "spec_in_use");
    const auto refused = delete_spec(rig.desk, "small");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "spec_in_use");
    EXPECT_THAT(refused.error().message, HasSubstr("1 stock slot and 0 instances"));
    ASSERT_TRUE(prepare_stock(rig.desk, {.spec = "small", .images = {"docker.io/library/nginx:1"}}));
    ASSERT_TRUE(delete_stock(rig.desk, {.number = 1, .spec_name = "small"}));
    (void)rig.take();
    EXPECT_EQ((*update_spec(rig.desk, {.spec = "small", .memory = "64Gi"}))->memory_bytes,
              std::int64_t{64} << 30);
    EXPECT_EQ(rig.take().events.at(0).reason, "changed");
    ASSERT_TRUE(update_spec(rig.desk, {.spec = "small", .memory = "65536Mi"}));
    EXPECT_TRUE(rig.estate.unchanged()) << "what is as it was is not written";
    ASSERT_TRUE(delete_spec(rig.desk, "small"));
    EXPECT_EQ(rig.take().events.at(0).reason, "deleted");
    EXPECT_FALSE(rig.estate.specs.find("small"));
    EXPECT_FALSE(rig.estate.stock_images.find("small")) << "its images go with it";
    EXPECT_EQ(delete_spec(rig.desk, "small").error().reason, "spec_not_found");
    EXPECT_EQ(update_spec(rig.desk, {.spec = "small"}).error().reason, "spec_not_found");
}

}  // namespace
}  // namespace hostler::master
