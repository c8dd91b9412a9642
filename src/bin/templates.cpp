#include "bin/templates.h"

#include <algorithm>

#include "adapters/docker/recipe.h"
#include "bin/toml_reader.h"
#include "core/quantity.h"

namespace hostler::bin {

namespace fs = std::filesystem;

namespace {

TemplateParameter parameter_of(Reader& from) {
    TemplateParameter made{.name = from.text("name"),
                           .help = from.text("help"),
                           .variable = from.text("env"),
                           .default_value = from.get<std::string>("default"),
                           .required = from.get<bool>("required").value_or(false),
                           .choices = from.texts("choices"),
                           .min = from.get<std::int64_t>("min"),
                           .max = from.get<std::int64_t>("max")};
    const std::string type = from.text("type");
    if (!boost::describe::enum_from_string(type.c_str(), made.type))
        from.fault("type", fmt::format("'{}' is none of text, integer, boolean, choice, secret", type));
    return made;
}

// What a host is to be like; where it is depends on the cloud.
Wishes wishes_of(Reader& from) {
    Wishes made;
    made.terms.model = from.text("model");
    made.terms.gpu_class = from.text("gpuClass");
    if (const std::string memory = from.text("gpuMemory"); !memory.empty()) {
        const auto bytes = parse_quantity(memory);
        made.terms.gpu_memory_bytes = bytes ? bytes->units() : 0;
        if (!bytes) from.fault("gpuMemory", bytes.error().message);
    }
    made.terms.trust = from.choice("trust", Trust::community);
    made.terms.labels = from.named_texts("labels");
    made.link = from.choice("link", Link::any);
    made.link_wanted = from.choice("linkWanted", Link::any);
    return made;
}

InstanceTemplate template_of(const toml::table& table, std::vector<std::string>& faults) {
    Reader from{table, "", faults};
    InstanceTemplate made{.title = from.text("title"),
                          .help = from.text("help"),
                          .image = from.text("image"),
                          .command = from.text("cmd"),
                          .mount_path = from.text("mountPath")};
    made.inactivity_s = from.get<std::int64_t>("inactivityTimeoutSeconds").value_or(0);
    const std::string policy = from.text("lossPolicy");
    if (!policy.empty() && !boost::describe::enum_from_string(policy.c_str(), made.loss_policy))
        from.fault("lossPolicy", fmt::format("'{}' is none of stay, move", policy));
    from.table("placement", [&](Reader& placement) { made.placement = wishes_of(placement); });
    made.jupyter_port = static_cast<int>(from.get<std::int64_t>("jupyterPort").value_or(0));
    made.jupyter_path = from.text("jupyterPath");
    from.tables("ports", [&](Reader& port) {
        made.ports.push_back({.port = static_cast<int>(port.get<std::int64_t>("port").value_or(0)),
                              .is_public = port.get<bool>("public").value_or(false),
                              .is_probe = port.get<bool>("probe").value_or(false),
                              .base_url = port.text("baseUrl")});
    });
    from.tables("envs", [&](Reader& variable) {
        made.environment.push_back({variable.text("name"), variable.text("value")});
    });
    from.tables("parameters", [&](Reader& parameter) { made.parameters.push_back(parameter_of(parameter)); });
    return made;
}

}  // namespace

Result<std::vector<InstanceTemplate>> read_templates(const fs::path& folder) {
    const auto recipes = TRY(docker::read_recipes(folder));
    std::vector<InstanceTemplate> found;
    std::string wrong;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{folder, error}) {
        const fs::path file = entry.path() / "template.toml";
        if (!fs::exists(file)) continue;
        std::vector<std::string> faults;
        try {
            auto made = template_of(toml::parse_file(file.string()), faults);
            made.name = entry.path().filename().string();
            for (const auto& recipe : recipes)
                if (made.image.empty() && recipe.folder == entry.path()) made.image = recipe.image;
            const auto more = faults_of(made);
            faults.insert(faults.end(), more.begin(), more.end());
            found.push_back(std::move(made));
        } catch (const toml::parse_error& bad) {
            faults.push_back(
                fmt::format("line {}: {}", bad.source().begin.line, std::string{bad.description()}));
        }
        for (const auto& fault : faults)
            wrong += fmt::format("{}{}: {}", wrong.empty() ? "" : "\n", file.string(), fault);
    }
    if (error)
        return fail(Code::invalid, fmt::format("the folder of templates {} cannot be read: {}",
                                               folder.string(), error.message()));
    if (!wrong.empty()) return fail(Code::invalid, std::move(wrong));
    std::ranges::sort(found, {}, &InstanceTemplate::name);
    return found;
}

}  // namespace hostler::bin
