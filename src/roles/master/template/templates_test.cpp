#include "roles/master/template/templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_instance.h"

namespace hostler::master {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<InstanceTemplate> known() {
    InstanceTemplate notebook{
        .name = "notebook", .title = "Notebook", .image = "localhost/notebook:1", .command = "serve --all"};
    notebook.ports = {{.port = 8888, .is_probe = true, .base_url = "/tree"}};
    notebook.environment = {{"MODE", "lab"}};
    notebook.mount_path = "/data";
    notebook.parameters = {{.name = "minutes",
                            .type = ParameterType::integer,
                            .help = "How long.",
                            .variable = "MINUTES",
                            .default_value = "5",
                            .min = 0}};
    return {notebook, {.name = "bare", .title = "Bare", .image = "localhost/bare:1"}};
}

TEST(Templates, WhatTheRequestLeavesOutComesFromThem) {
    const auto filled = filled_in(known(), {.instance_id = "one",
                                            .storage_id = "models",
                                            .template_name = "notebook",
                                            .parameters = {{"minutes", "9"}}});
    ASSERT_TRUE(filled) << filled.error().message;
    EXPECT_EQ(filled->image, "localhost/notebook:1");
    const api::Template& container = filled->template_;
    EXPECT_EQ(container.cmd, "serve --all");
    EXPECT_THAT(container.ports, ElementsAre(api::Port{.port = 8888, .is_probe = true, .base_url = "/tree"}));
    EXPECT_THAT(container.envs, ElementsAre(api::Env{"MODE", "lab"}, api::Env{"MINUTES", "9"}));
    EXPECT_THAT(container.volumes, ElementsAre(api::VolumeMount{.name = "", .mount_path = "/data"}));
}

TEST(Templates, WhatTheRequestSaysCountsMore) {
    api::CreateInstance request{.image = "own:2", .storage_id = "models", .template_name = "notebook"};
    request.template_ = {.ports = {{.port = 1234}},
                         .envs = {{"MODE", "classic"}},
                         .cmd = "mine",
                         .volumes = {{.name = "other", .mount_path = "/elsewhere"}}};
    const auto filled = filled_in(known(), request);
    ASSERT_TRUE(filled) << filled.error().message;
    EXPECT_EQ(filled->image, "own:2");
    EXPECT_EQ(filled->template_.cmd, "mine");
    EXPECT_EQ(filled->template_.ports, request.template_.ports);
    EXPECT_EQ(filled->template_.volumes, request.template_.volumes);
    EXPECT_THAT(filled->template_.envs, ElementsAre(api::Env{"MODE", "classic"}, api::Env{"MINUTES", "5"}));
}

TEST(Templates, WithoutOneNothingChanges) {
    const api::CreateInstance request{.instance_id = "plain", .image = "own:1"};
    const auto filled = filled_in(known(), request);
    ASSERT_TRUE(filled);
    EXPECT_EQ(*filled, request);
}

TEST(Templates, WhatDoesNotFitIsNamed) {
    const auto unknown = filled_in(known(), {.template_name = "juypter"});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Code::invalid);
    EXPECT_EQ(unknown.error().fields.at(0).path, "templateName");
    EXPECT_EQ(unknown.error().fields.at(0).message, "must be one of notebook, bare");

    const auto parameter =
        filled_in(known(), {.template_name = "notebook", .parameters = {{"minutes", "-1"}}});
    ASSERT_FALSE(parameter);
    EXPECT_EQ(parameter.error().fields.at(0).path, "parameters[0].value");

    const auto homeless = filled_in(known(), {.storage_id = "models", .template_name = "bare"});
    ASSERT_FALSE(homeless);
    EXPECT_EQ(homeless.error().fields.at(0).path, "storageID");
    EXPECT_THAT(homeless.error().fields.at(0).message, HasSubstr("mountPath"));
}

}  // namespace
}  // namespace hostler::master
