// Shapes of instances.
#pragma once

#include "api/operation.h"
#include "api/types_spec.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, List<Spec>> list_specs{{
    .name = "listSpecs", .path = "/v1/specs", .permission = Permission::spec_read, .help = "List the specs.",
    .list = true,
    .noun = "spec", .verb = "list", .columns = "name gpuType gpuNum cpu memory createdAt"}};
inline constexpr Typed<GetSpec, Spec> get_spec{{
    .name = "getSpec", .path = "/v1/specs/{spec}", .permission = Permission::spec_read, .help = "Show a spec.",
    .noun = "spec", .verb = "get"}};
inline constexpr Typed<CreateSpec, Spec> create_spec{{
    .name = "createSpec", .method = Method::post, .path = "/v1/specs",
    .permission = Permission::spec_write, .help = "Create a spec without stock.", .status = 201,
    .noun = "spec", .verb = "create", .argument = "name",
    .example = "spec create h100-1 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' --gpu-num 1"}};
inline constexpr Typed<UpdateSpec, Spec> update_spec{{
    .name = "updateSpec", .method = Method::patch, .path = "/v1/specs/{spec}",
    .permission = Permission::spec_write, .help = "Change a spec without stock and instances.", .noun = "spec",
    .verb = "edit", .example = "spec edit h100-1 --memory 64Gi"}};
inline constexpr Typed<GetSpec, Empty> delete_spec{{
    .name = "deleteSpec", .method = Method::delete_, .path = "/v1/specs/{spec}",
    .permission = Permission::spec_write, .help = "Delete a spec without stock and instances.", .noun = "spec",
    .verb = "delete"}};

}  // namespace hostler::api::ops
