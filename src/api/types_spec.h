// Specs: the shapes that instances have.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct Spec {
    std::string name;
    std::string cpu;
    std::string memory;
    std::string gpu_type;
    int gpu_num = 0;
    WallTime created_at;
};
BOOST_DESCRIBE_STRUCT(Spec, (), (name, cpu, memory, gpu_type, gpu_num, created_at))
template <>
inline constexpr auto fields<Spec> = std::to_array<Field>({
    {.member = "name", .help = "Its name.", .example = "h100-1"},
    {.member = "cpu", .help = "CPUs of an instance.", .example = "8"},
    {.member = "memory", .help = "Memory of an instance.", .example = "32Gi"},
    {.member = "gpu_type", .help = "Model of the GPUs.", .example = "H100 SXM5 80GB"},
    {.member = "gpu_num", .help = "Whole GPUs of an instance.", .example = "1"},
    {.member = "created_at", .help = "When it was made."},
});

// POST /v1/specs.
struct CreateSpec {
    std::string name;
    std::string cpu;
    std::string memory;
    std::string gpu_type;
    int gpu_num = 0;
};
BOOST_DESCRIBE_STRUCT(CreateSpec, (), (name, cpu, memory, gpu_type, gpu_num))
template <>
inline constexpr auto fields<CreateSpec> = std::to_array<Field>({
    {.member = "name", .help = "Its name.", .example = "h100-1", .form = &forms::id},
    {.member = "cpu", .help = "CPUs of an instance.", .example = "8", .form = &forms::quantity},
    {.member = "memory", .help = "Memory of an instance.", .example = "32Gi", .form = &forms::quantity},
    {.member = "gpu_type", .help = "Model of the GPUs.", .example = "H100 SXM5 80GB", .min = 1, .max = 128,
     .form = &forms::one_line},
    {.member = "gpu_num", .help = "Whole GPUs of an instance, all on one host.", .example = "1", .min = 1, .max = 64},
});

// PATCH /v1/specs/{spec}. What is not given stays.
struct UpdateSpec {
    std::string spec;
    std::optional<std::string> cpu{};
    std::optional<std::string> memory{};
    std::optional<std::string> gpu_type{};
    std::optional<int> gpu_num{};
};
BOOST_DESCRIBE_STRUCT(UpdateSpec, (), (spec, cpu, memory, gpu_type, gpu_num))
template <>
inline constexpr auto fields<UpdateSpec> = std::to_array<Field>({
    {.member = "spec", .help = "The spec's name.", .example = "h100-1"},
    {.member = "cpu", .help = "CPUs of an instance.", .example = "8", .form = &forms::quantity},
    {.member = "memory", .help = "Memory of an instance.", .example = "32Gi", .form = &forms::quantity},
    {.member = "gpu_type", .help = "Model of the GPUs.", .example = "H100 SXM5 80GB", .min = 1, .max = 128,
     .form = &forms::one_line},
    {.member = "gpu_num", .help = "Whole GPUs of an instance, all on one host.", .example = "1", .min = 1, .max = 64},
});

struct GetSpec {
    std::string spec;
};
BOOST_DESCRIBE_STRUCT(GetSpec, (), (spec))
template <>
inline constexpr auto fields<GetSpec> = std::to_array<Field>({
    {.member = "spec", .help = "The spec's name.", .example = "h100-1"},
});

}  // namespace hostler::api
