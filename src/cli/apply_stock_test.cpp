// `hostler apply` of stock: slots, images in advance, who gives way.
#include "cli/apply_test.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using ApplyStockTest = ApplyTest;

TEST_F(ApplyStockTest, StockIsAsManySlotsAsTheFileSays) {
    spec = {.name = "h100-1", .cpu = "8", .memory = "32Gi", .gpu_type = "H100", .gpu_num = 1};
    stock = 4;
    const auto text = [](int number, std::string_view more = "") {
        return fmt::format("kind: stock\nspecName: h100-1\nnumber: {}\n{}", number, more);
    };
    EXPECT_EQ(apply(text(6)), 0) << err;
    EXPECT_EQ(out, "stock/h100-1 updated: 6 slots, were 4\n");
    EXPECT_THAT(counted, ElementsAre(4)) << "whoever changes it meanwhile is not overruled";
    EXPECT_EQ(apply(text(5)), 0) << err;
    EXPECT_EQ(apply(text(5)), 0) << err;
    EXPECT_EQ(out, "stock/h100-1 unchanged\n");
    EXPECT_EQ(apply(text(3, "zone: nj\n")), 0) << err;
    EXPECT_EQ(out, "stock/h100-1 updated: 3 slots, were 1\n");
    EXPECT_EQ(apply(text(2, "zone: mars\n")), 0) << err;
    EXPECT_THAT(changes, ElementsAre("+2 anywhere", "-1 anywhere", "+2 nj", "+2 mars"));
    EXPECT_EQ(apply(text(9, "cpu: 4\n")), 5);
    EXPECT_THAT(err, HasSubstr("differs in: cpu (8 there, 4 in the file)"));
    EXPECT_EQ(stock, 9);
}

TEST_F(ApplyStockTest, StockIsGivenItsImagesInAdvance) {
    const std::string slots =
        "kind: stock\nspecName: small\nnumber: 2\ncpu: 8\nmemory: 32Gi\ngpuType: H100\ngpuNum: 1\n";
    const std::string both = slots + "images: [nginx:1.27]\ntemplates: [jupyter]\n";
    EXPECT_EQ(apply(both), 0) << err;
    EXPECT_EQ(out, "stock/small created: 2 images in advance, were 0\n");
    EXPECT_THAT(changes, ElementsAre("+2 anywhere", "2 images"));
    EXPECT_EQ(apply(both), 0) << err;
    EXPECT_EQ(out, "stock/small unchanged\n");
    EXPECT_EQ(apply(slots), 0) << err;
    EXPECT_EQ(out, "stock/small unchanged\n") << "a file that says nothing of images leaves them alone";
    EXPECT_EQ(run({"apply", "--dry-run", "-f", file("cloud.yaml", slots + "images: []\n")}), 0) << err;
    EXPECT_THAT(out, HasSubstr("stock/small would be updated: 0 images in advance, were 2"));
    EXPECT_EQ(images.size(), 2U);
    EXPECT_EQ(apply(slots + "images: []\n"), 0) << err;
    EXPECT_TRUE(images.empty());
    EXPECT_EQ(apply(slots + "images: [nginx, nginx, 'a b']\ntemplates: 3\n"), 2);
    EXPECT_THAT(err, HasSubstr("cloud.yaml:8: images[0]: is given twice"));
    EXPECT_THAT(err, HasSubstr("images[2]: must be an image reference"));
    EXPECT_THAT(err, HasSubstr("templates: must"));
}

TEST_F(ApplyStockTest, StockGivesWayAsTheFileSays) {
    const std::string slots =
        "kind: stock\nspecName: small\nnumber: 2\ncpu: 8\nmemory: 32Gi\ngpuType: H100\ngpuNum: 1\n";
    EXPECT_EQ(apply(slots + "reclaim: never\n"), 0) << err;
    EXPECT_EQ(out, "stock/small created\n");
    EXPECT_THAT(changes, ElementsAre("+2 anywhere")) << "it is so unless told otherwise";
    const std::string policy = slots + "reclaim: idle\nkeep: 1\n";
    EXPECT_EQ(run({"apply", "--dry-run", "-f", file("cloud.yaml", policy)}), 0) << err;
    EXPECT_THAT(out, HasSubstr("stock/small would be updated: reclaim idle, was never; keep 1, was none\n"));
    EXPECT_EQ(reclaim, api::Reclaim::never);
    EXPECT_EQ(apply(policy), 0) << err;
    EXPECT_EQ(reclaim, api::Reclaim::idle);
    EXPECT_EQ(keep, 1);
    changes.clear();
    EXPECT_EQ(apply(policy), 0) << err;
    EXPECT_EQ(out, "stock/small unchanged\n");
    EXPECT_EQ(apply(slots), 0) << err;
    EXPECT_EQ(out, "stock/small unchanged\n") << "a file that says nothing of it leaves it alone";
    EXPECT_THAT(changes, ElementsAre());
    EXPECT_EQ(apply(slots + "keep: 0\nimages: [nginx]\n"), 0) << err;
    EXPECT_EQ(out, "stock/small updated: 1 image in advance, were 0; keep none, was 1\n");
    EXPECT_EQ(reclaim, api::Reclaim::idle);
    EXPECT_EQ(apply(slots + "reclaim: sometimes\nkeep: -1\n"), 2);
    EXPECT_THAT(err, HasSubstr("cloud.yaml:8: reclaim: must"));
    EXPECT_THAT(err, HasSubstr("cloud.yaml:9: keep: must"));
    EXPECT_EQ(apply("kind: stock\nspecName: A B\nnumber: 2\nkeep: 1\n"), 2);
    EXPECT_THAT(err, HasSubstr("specName: must"));
    EXPECT_THAT(err, Not(HasSubstr(" spec: ")));
}

TEST_F(ApplyStockTest, NewStockGetsItsPolicyAtOnce) {
    EXPECT_EQ(
        apply("kind: stock\nspecName: small\nnumber: 2\ncpu: 8\nmemory: 32Gi\ngpuType: H100\ngpuNum: 1\n"
              "reclaim: idle\nkeep: 1\n"),
        0)
        << err;
    EXPECT_EQ(out, "stock/small created: reclaim idle, was never; keep 1, was none\n");
    EXPECT_THAT(changes, ElementsAre("+2 anywhere", "policy"));
    EXPECT_EQ(keep, 1);
}

}  // namespace
}  // namespace hostler::cli
