// Kinds of instances, ready to be started.
#pragma once

#include "api/operation.h"
#include "api/types_template.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, List<InstanceTemplate>> list_templates{{
    .name = "listTemplates", .path = "/v1/templates", .permission = Permission::template_read,
    .help = "List the templates.", .list = true, .pages = Pages::own, .query = true, .noun = "template", .verb = "list",
    .columns = "name title help image"}};
inline constexpr Typed<GetTemplate, InstanceTemplate> get_template{{
    .name = "getTemplate", .path = "/v1/templates/{template}", .permission = Permission::template_read,
    .help = "Show a template and its parameters.",
    .noun = "template", .verb = "get", .example = "template get jupyter"}};

}  // namespace hostler::api::ops
