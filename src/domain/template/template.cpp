#include "domain/template/template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace hostler {

namespace {

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Why `value` is not one that `asked` allows; empty: it is.
std::string refusal(const TemplateParameter& asked, const std::string& value) {
    switch (asked.type) {
        case ParameterType::text:
        case ParameterType::secret: return {};
        case ParameterType::boolean:
            return value == "true" || value == "false" ? "" : "must be true or false";
        case ParameterType::choice:
            return std::ranges::count(asked.choices, value) > 0
                       ? ""
                       : fmt::format("must be one of {}", fmt::join(asked.choices, ", "));
        case ParameterType::integer: {
            const auto number = integer(value);
            if (!number) return "must be a whole number";
            if (asked.min && *number < *asked.min) return fmt::format("must be at least {}", *asked.min);
            if (asked.max && *number > *asked.max) return fmt::format("must be at most {}", *asked.max);
            return {};
        }
    }
    return {};
}

const TemplateParameter* parameter_named(const InstanceTemplate& from, std::string_view name) {
    const auto found = std::ranges::find(from.parameters, name, &TemplateParameter::name);
    return found == from.parameters.end() ? nullptr : &*found;
}

std::string names_of(const InstanceTemplate& from) {
    if (from.parameters.empty()) return "it has none";
    std::vector<std::string_view> names;
    for (const auto& parameter : from.parameters) names.emplace_back(parameter.name);
    return fmt::format("it has {}", fmt::join(names, ", "));
}

}  // namespace

Result<std::vector<InstanceVariable>> environment_of(const InstanceTemplate& from,
                                                     const std::vector<InstanceVariable>& answers) {
    std::vector<FieldError> wrong;
    std::vector<InstanceVariable> made = from.environment;
    std::set<std::string_view> answered;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto& [name, value] = answers[i];
        const std::string path = fmt::format("parameters[{}]", i);
        const TemplateParameter* asked = parameter_named(from, name);
        if (!asked) {
            wrong.push_back({path + ".name", fmt::format("template {} has no such parameter; {}", from.name,
                                                         names_of(from))});
            continue;
        }
        if (!answered.insert(name).second) wrong.push_back({path + ".name", "is given twice"});
        if (auto why = refusal(*asked, value); !why.empty())
            wrong.push_back({path + ".value", std::move(why)});
        made.push_back({asked->variable, value});
    }
    for (const auto& parameter : from.parameters) {
        if (answered.contains(parameter.name)) continue;
        if (parameter.default_value)
            made.push_back({parameter.variable, *parameter.default_value});
        else if (parameter.required)
            wrong.push_back({"parameters", fmt::format("{} is missing: {}", parameter.name, parameter.help)});
    }
    if (wrong.empty()) return made;
    Error error{Code::invalid, "the template's parameters are wrong", "validation_failed"};
    error.fields = std::move(wrong);
    return std::unexpected(std::move(error));
}

std::vector<std::string> faults_of(const InstanceTemplate& one) {
    std::vector<std::string> faults;
    if (one.title.empty()) faults.emplace_back("title is missing");
    if (one.image.empty()) faults.emplace_back("it has neither an image nor a recipe for one");
    if (!one.mount_path.empty() && !one.mount_path.starts_with('/'))
        faults.emplace_back("mountPath must begin with /");
    std::set<int> ports;
    for (const auto& port : one.ports) {
        if (port.port < 1 || port.port > 65535)
            faults.push_back(fmt::format("port {} is none", port.port));
        else if (!ports.insert(port.port).second)
            faults.push_back(fmt::format("port {} is given twice", port.port));
        if (!port.base_url.empty() && !port.base_url.starts_with('/'))
            faults.push_back(fmt::format("baseUrl of port {} must begin with /", port.port));
    }
    if (one.inactivity_s < 0 || one.inactivity_s > stop_after_max_s)
        faults.push_back(fmt::format("inactivityTimeoutSeconds must be between 0 and {}", stop_after_max_s));
    if (one.jupyter_port != 0 && !ports.contains(one.jupyter_port))
        faults.push_back(fmt::format("jupyterPort {} is none of its ports", one.jupyter_port));
    std::set<std::string_view> names, variables;
    for (const auto& parameter : one.parameters) {
        const auto fault = [&](std::string_view what) {
            faults.push_back(fmt::format("parameter '{}': {}", parameter.name, what));
        };
        if (parameter.name.empty()) fault("name is missing");
        if (parameter.help.empty()) fault("help is missing");
        if (parameter.variable.empty()) fault("env is missing");
        if (!names.insert(parameter.name).second) fault("appears twice");
        if (!parameter.variable.empty() && !variables.insert(parameter.variable).second)
            fault(fmt::format("another one sets {} already", parameter.variable));
        if (parameter.type == ParameterType::choice && parameter.choices.empty()) fault("choices is missing");
        if (parameter.type != ParameterType::choice && !parameter.choices.empty())
            fault("only a choice has choices");
        if (parameter.type != ParameterType::integer && (parameter.min || parameter.max))
            fault("only an integer has min and max");
        if (parameter.required && parameter.default_value) fault("a required one needs no default");
        if (parameter.default_value)
            if (const auto why = refusal(parameter, *parameter.default_value); !why.empty())
                fault(fmt::format("its default {}", why));
    }
    return faults;
}

}  // namespace hostler
