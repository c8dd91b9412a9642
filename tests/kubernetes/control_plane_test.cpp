#include "control_plane.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "parts.h"

namespace hostler::kube {
namespace {

using ::testing::HasSubstr;

class OnControlPlane : public ::testing::Test {
protected:
    void SetUp() override {
        HOSTLER_NEEDS_KUBERNETES(Needs::control_plane);
        auto started = ControlPlane::start();
        ASSERT_TRUE(started) << started.error().message;
        plane_ = std::move(*started);
    }
    void apply(const std::string& text) {
        const Ran ran = plane_->kubectl({"apply", "-f", "-"}, text);
        ASSERT_EQ(ran.code, 0) << ran.err;
    }
    std::unique_ptr<ControlPlane> plane_;
};

constexpr const char* shelf_kind = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shelves.test.hostler.dev}
spec:
  group: test.hostler.dev
  scope: Namespaced
  names: {plural: shelves, singular: shelf, kind: Shelf}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {books: {type: integer}}
            x-kubernetes-validations: [{rule: self.books <= 64, message: at most 64 books}]
)";

std::string shelf(int books) {
    return fmt::format(
        "apiVersion: test.hostler.dev/v1\nkind: Shelf\nmetadata: {{name: a}}\nspec: {{books: {}}}\n", books);
}

TEST_F(OnControlPlane, RulesOfACustomResourceRefuse) {
    apply(shelf_kind);
    ASSERT_EQ(plane_->kubectl({"wait", "--for=condition=Established", "crd/shelves.test.hostler.dev"}).code,
              0);
    const Ran refused = plane_->kubectl({"apply", "-f", "-"}, shelf(65));
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.err, HasSubstr("at most 64 books"));
    apply(shelf(64));
    EXPECT_EQ(plane_->kubectl({"get", "shelf", "a", "-o", "jsonpath={.spec.books}"}).out, "64");
}

TEST_F(OnControlPlane, ObjectsOutliveTheApiServer) {
    const Ran version = plane_->kubectl({"version"});
    EXPECT_THAT(version.out, HasSubstr("Client Version: v1.36.3"));
    EXPECT_THAT(version.out, HasSubstr("Server Version: v1.36.3"));
    ASSERT_EQ(plane_->kubectl({"create", "namespace", "kept"}).code, 0);
    plane_->kill_api_server();
    EXPECT_NE(plane_->kubectl({"get", "namespaces"}).code, 0);
    const auto again = plane_->start_api_server();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(plane_->kubectl({"get", "namespace", "kept", "-o", "name"}).out, "namespace/kept\n");
}

// The controller manager makes the replica set and the pod, and the scheduler says why the pod has no place.
TEST_F(OnControlPlane, ControllersAndSchedulerWork) {
    apply(R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
)");
    const auto message = [this] {
        return plane_->kubectl({"get", "pods", "-o", "jsonpath={.items[*].status.conditions[*].message}"})
            .out;
    };
    EXPECT_TRUE(eventually(Seconds{60}, [&] { return message().contains("no nodes available"); }))
        << message();
}

TEST_F(OnControlPlane, ATokenIsItsAccounts) {
    ASSERT_EQ(plane_->kubectl({"create", "serviceaccount", "reader"}).code, 0);
    const auto token = plane_->token("default", "reader");
    ASSERT_TRUE(token) << token.error().message;
    const std::string answer =
        run({"curl", "-s", "--cacert", plane_->authority(), "-H", "Authorization: Bearer " + *token,
             plane_->address() + "/api/v1/namespaces"})
            .out;
    EXPECT_THAT(answer, HasSubstr("system:serviceaccount:default:reader"));
    EXPECT_THAT(answer, HasSubstr("\"code\": 403"));
    EXPECT_FALSE(plane_->token("default", "none"));
}

TEST_F(OnControlPlane, NothingStays) {
    const std::string folder = plane_->folder();
    plane_ = nullptr;
    EXPECT_THAT(left_of(folder.substr(folder.rfind('/') + 1)), ::testing::IsEmpty());
}

}  // namespace
}  // namespace hostler::kube
