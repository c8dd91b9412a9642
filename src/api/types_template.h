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
    {.member = "name", .help = "What parameters[].name says when an instance is started.",
     .example = "password"},
    {.member = "type", .help = "What its value may be; a secret is text that nothing shows.",
     .example = "secret"},
    {.member = "help", .help = "What it does.", .example = "Asked for before anybody gets in."},
    {.member = "required", .help = "There is no instance without it.", .example = "false"},
    {.member = "default_", .help = "Its value when it is not given.", .example = "0"},
    {.member = "choices", .help = "What a choice may be."},
    {.member = "min", .help = "The least that an integer may be.", .example = "0"},
    {.member = "max", .help = "The most that an integer may be.", .example = "10080"},
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
    {.member = "name", .help = "What templateName says when an instance is started.", .example = "jupyter"},
    {.member = "title", .help = "Its name for people.", .example = "JupyterLab"},
    {.member = "help", .help = "What it is for.", .example = "Notebooks with Python, in the browser."},
    {.member = "image", .help = "The container image.", .example = "localhost/hostler/jupyter:2"},
    {.member = "cmd", .help = "Command line; empty: the image's own."},
    {.member = "ports", .help = "Ports to be reached from outside."},
    {.member = "envs", .help = "Environment of the container, besides what the parameters make."},
    {.member = "mount_path", .help = "Where the volume of storageID is mounted; empty: it wants none.",
     .example = "/data"},
    {.member = "parameters", .help = "What may be said when an instance is started."},
    {.member = "inactivity_timeout_seconds",
     .help = "Unused for so long its instances are stopped, unless they say otherwise; 0: never.",
     .example = "7200", .unit = Unit::seconds},
    {.member = "loss_policy", .help = "When a host is silent: what its instances do, unless they say otherwise.",
     .example = "stay"},
    {.member = "placement", .help = "Where its instances go, unless they say otherwise."},
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
