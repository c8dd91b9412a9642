// Templates: kinds of instances that are ready to be started.
#pragma once

#include "api/types_instance.h"

namespace hostler::api {

// clang-format off

enum class ParameterType { text, integer, boolean, choice, secret };
BOOST_DESCRIBE_ENUM(ParameterType, text, integer, boolean, choice, secret)

struct TemplateParameter {
    std::string name;
    ParameterType type = ParameterType::text;
    std::string help;
    bool required = false;
    std::optional<std::string> default_{};
    std::vector<std::string> choices;
    std::optional<std::int64_t> min{};
    std::optional<std::int64_t> max{};
};
BOOST_DESCRIBE_STRUCT(TemplateParameter, (), (name, type, help, required, default_, choices, min, max))
template <>
inline constexpr auto fields<TemplateParameter> = std::to_array<Field>({
    {.member = "name", .help = "Key of the value in parameters.",
     .example = "password"},
    {.member = "type", .help = "Type of the value. A secret is text that is never shown.",
     .example = "secret"},
    {.member = "help", .help = "Description.", .example = "Asked for before anybody gets in."},
    {.member = "required", .help = "A value is required.", .example = "false"},
    {.member = "default_", .help = "Default value.", .example = "0"},
    {.member = "choices", .help = "Allowed values of a choice."},
    {.member = "min", .help = "Minimum of an integer.", .example = "0"},
    {.member = "max", .help = "Maximum of an integer.", .example = "10080"},
});

struct InstanceTemplate {
    std::string name;
    std::string title;
    std::string help;
    std::string image;
    std::string cmd;
    std::vector<Port> ports;
    std::vector<Env> envs;
    std::string mount_path;
    std::vector<TemplateParameter> parameters;
    std::int64_t inactivity_timeout_seconds = 0;
    LossPolicy loss_policy = LossPolicy::stay;
    std::optional<Placement> placement{};
};
BOOST_DESCRIBE_STRUCT(InstanceTemplate, (),
                      (name, title, help, image, cmd, ports, envs, mount_path, parameters,
                       inactivity_timeout_seconds, loss_policy, placement))
template <>
inline constexpr auto fields<InstanceTemplate> = std::to_array<Field>({
    {.member = "name", .help = "Value of templateName for an instance of this template.", .example = "jupyter"},
    {.member = "title", .help = "Its name for people.", .example = "JupyterLab"},
    {.member = "help", .help = "Description.", .example = "Notebooks with Python, in the browser."},
    {.member = "image", .help = "The container image.", .example = "localhost/hostler/jupyter:2"},
    {.member = "cmd", .help = "Command line; empty: the image's own."},
    {.member = "ports", .help = "Ports to be reached from outside."},
    {.member = "envs", .help = "Environment of the container, in addition to variables from parameters."},
    {.member = "mount_path", .help = "Mount point of the volume in storageID; empty: no volume.",
     .example = "/data"},
    {.member = "parameters", .help = "Parameters."},
    {.member = "inactivity_timeout_seconds",
     .help = "Default inactivity timeout of its instances; 0: never.",
     .example = "7200", .unit = Unit::seconds},
    {.member = "loss_policy", .help = "Default loss policy of its instances.",
     .example = "stay"},
    {.member = "placement", .help = "Default placement of its instances."},
});

struct GetTemplate {
    std::string template_;
};
BOOST_DESCRIBE_STRUCT(GetTemplate, (), (template_))
template <>
inline constexpr auto fields<GetTemplate> = std::to_array<Field>({
    {.member = "template_", .help = "The template's name.", .example = "jupyter", .min = 1, .max = 128},
});

}  // namespace hostler::api
