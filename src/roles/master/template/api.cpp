#include <fmt/format.h>

#include "api/operations_template.h"
#include "roles/master/http/api.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/template/templates.h"

namespace hostler::master {

namespace {

api::InstanceTemplate template_view(const InstanceTemplate& one) {
    api::InstanceTemplate shown{.name = one.name,
                                .title = one.title,
                                .help = one.help,
                                .image = one.image,
                                .cmd = one.command,
                                .ports = {},
                                .envs = {},
                                .mount_path = one.mount_path,
                                .parameters = {}};
    shown.inactivity_timeout_seconds = one.inactivity_s;
    shown.loss_policy = one.loss_policy == LossPolicy::move ? api::LossPolicy::move : api::LossPolicy::stay;
    if (one.placement) shown.placement = shown_as(*one.placement);
    for (const auto& port : one.ports)
        shown.ports.push_back({.port = port.port,
                               .is_public = port.is_public,
                               .is_probe = port.is_probe,
                               .base_url = port.base_url});
    for (const auto& [name, value] : one.environment) shown.envs.push_back({name, value});
    for (const auto& parameter : one.parameters) {
        auto& added =
            shown.parameters.emplace_back(api::TemplateParameter{.name = parameter.name,
                                                                 .help = parameter.help,
                                                                 .required = parameter.required,
                                                                 .default_ = parameter.default_value,
                                                                 .choices = parameter.choices,
                                                                 .min = parameter.min,
                                                                 .max = parameter.max});
        switch (parameter.type) {
            case ParameterType::text: added.type = api::ParameterType::text; break;
            case ParameterType::integer: added.type = api::ParameterType::integer; break;
            case ParameterType::boolean: added.type = api::ParameterType::boolean; break;
            case ParameterType::choice: added.type = api::ParameterType::choice; break;
            case ParameterType::secret: added.type = api::ParameterType::secret; break;
        }
    }
    return shown;
}

}  // namespace

void add_templates(Api& service) {
    namespace ops = api::ops;
    // They do not change while a master runs: a cursor is the number of the next one.
    service.read<ops::list_templates>([](const Desk& desk, const api::Call& call,
                                         const api::Empty&) -> Result<api::List<api::InstanceTemplate>> {
        api::List<api::InstanceTemplate> list;
        const auto& all = desk.settings.templates;
        std::size_t at = call.after ? static_cast<std::size_t>(call.after->created) : 0;
        for (; at < all.size() && static_cast<int>(list.items.size()) < call.limit; ++at)
            if (api::InstanceTemplate shown = template_view(all[at]); api::lets_through(call.query, shown))
                list.items.push_back(std::move(shown));
        if (at < all.size()) list.next_cursor = api::to_string({call.list, 0, at, all[at].name});
        return list;
    });
    service.read<ops::get_template>([](const Desk& desk, const api::Call&,
                                       const api::GetTemplate& request) -> Result<api::InstanceTemplate> {
        if (const InstanceTemplate* found = find_template(desk.settings.templates, request.template_))
            return template_view(*found);
        return fail(Code::not_found, fmt::format("there is no template {}", request.template_),
                    "template_not_found");
    });
}

}  // namespace hostler::master
