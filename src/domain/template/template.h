// Templates: kinds of instances that are ready to be started, with a few questions to answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "domain/instance/instance.h"

namespace hostler {

// `text` may have several lines. A `secret` is text that nothing shows.
enum class ParameterType { text, integer, boolean, choice, secret };
BOOST_DESCRIBE_ENUM(ParameterType, text, integer, boolean, choice, secret)

// What may be said when an instance is started from a template. It becomes a variable of the container.
struct TemplateParameter {
    std::string name;  // "kernelIdleMinutes"
    ParameterType type = ParameterType::text;
    std::string help;
    std::string variable;                      // "JUPYTER_KERNEL_IDLE_MINUTES"
    std::optional<std::string> default_value;  // Absent, and not required: the variable is not set.
    bool required = false;
    std::vector<std::string> choices;      // Of a choice.
    std::optional<std::int64_t> min, max;  // Of an integer.
    bool operator==(const TemplateParameter&) const = default;
};

struct InstanceTemplate {
    std::string name;  // "jupyter"
    std::string title;
    std::string help;
    std::string image;
    std::string command;  // As a shell would split it; empty: the image's own.
    std::vector<InstancePort> ports;
    std::vector<InstanceVariable> environment;
    std::string mount_path;  // Where a volume is mounted; empty: it wants none.
    std::vector<TemplateParameter> parameters;
    std::int64_t inactivity_s =
        0;  // Unused for so long it is stopped, unless its owner says otherwise; 0: never.
    LossPolicy loss_policy = LossPolicy::stay;  // Unless their owners say otherwise.
    int jupyter_port = 0;      // Of a notebook server, that is asked whether it is used; 0: there is none.
    std::string jupyter_path;  // Under which it serves.
    std::optional<Wishes> placement;  // Where they go, unless their owners say otherwise.
    bool operator==(const InstanceTemplate&) const = default;
};

// The template's own variables and those of its parameters as they were answered. Errors: invalid, with a
// field "parameters[0].name" or ".value" for each answer that does not fit, and "parameters" for each that is
// missing.
Result<std::vector<InstanceVariable>> environment_of(const InstanceTemplate& from,
                                                     const std::vector<InstanceVariable>& answers);

// What is wrong with a template, one sentence each; empty: nothing.
std::vector<std::string> faults_of(const InstanceTemplate& one);

}  // namespace hostler
