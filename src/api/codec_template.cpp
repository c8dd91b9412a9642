#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_template.h"

HOSTLER_JSON(hostler::api::TemplateParameter)
HOSTLER_JSON(hostler::api::InstanceTemplate)
HOSTLER_JSON(hostler::api::GetTemplate)
HOSTLER_JSON(hostler::api::List<hostler::api::InstanceTemplate>)

namespace hostler::api {

ApiArea template_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_templates,
        &get_template,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"template", "Kinds of instances, ready to be started."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
