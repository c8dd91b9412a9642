// Tenants and projects on the command line, and in files.
#include "api/operations_tenant.h"
#include "cli/apply_test.h"

namespace hostler::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TenantTest : public ApplyTest {
protected:
    TenantTest() {
        api.handlers.on<api::ops::get_project>(
            [this](api::Call, api::NameProject asked) -> Task<api::Project> {
                for (const api::Project& one : projects)
                    if (one.name == asked.project) co_return one;
                co_return fail(Code::not_found, "there is no project " + asked.project, "project_not_found");
            });
        api.handlers.on<api::ops::create_project>(
            [this](api::Call, api::CreateProject asked) -> Task<api::Project> {
                projects.push_back({.name = asked.name,
                                    .tenant_id = asked.tenant_id.value_or("acme"),
                                    .display_name = asked.display_name.value_or("")});
                co_return projects.back();
            });
        api.handlers.on<api::ops::delete_tenant>(
            [](api::Call, api::DeleteTenant) -> Task<api::Empty> { co_return api::Empty{}; });
    }
    std::vector<api::Project> projects;
};

TEST_F(TenantTest, ProjectsAreMadeAndNamedByFlags) {
    EXPECT_EQ(run({"project", "create", "lab", "--tenant", "acme", "--display-name", "Laboratory"}), 0)
        << err;
    EXPECT_EQ(run({"volume", "create", "data", "--tenant", "acme", "--size", "1Gi", "--project", "lab"}), 0)
        << err;
    EXPECT_THAT(
        api.requests,
        Contains(R"(POST /v1/volumes {"name":"data","size":"1Gi","tenantID":"acme","project":"lab"})"));
    ASSERT_EQ(projects.size(), 1u);
    EXPECT_EQ(projects[0].display_name, "Laboratory");
    EXPECT_EQ(projects[0].tenant_id, "acme");
}

TEST_F(TenantTest, ADeletionIsConfirmed) {
    EXPECT_EQ(run({"tenant", "delete", "acme"}), 2);
    EXPECT_THAT(err, HasSubstr("needs --yes here"));
    EXPECT_EQ(run({"tenant", "delete", "acme", "--yes"}), 0) << err;
    EXPECT_THAT(api.requests, ElementsAre("DELETE /v1/tenants/acme"));
}

TEST_F(TenantTest, FilesNameProjects) {
    const std::string text =
        "kind: project\nname: lab\ntenantID: acme\ndisplayName: Laboratory\n---\n"
        "kind: instance\ninstanceID: nb\ntenantID: acme\nspecName: s\nimage: demo:1\nproject: lab\n";
    EXPECT_EQ(apply(text), 0) << err;
    EXPECT_EQ(out, "project/lab created\ninstance/nb created\n");
    ASSERT_TRUE(instance);
    EXPECT_EQ(instance->project, "lab");
    EXPECT_EQ(apply("kind: project\nname: lab\ntenantID: acme\ndisplayName: Other\n"), 5);
    EXPECT_THAT(err, HasSubstr("change it by: hostler project edit lab"));
}

}  // namespace
}  // namespace hostler::cli
