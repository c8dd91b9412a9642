#include "roles/master/state/feature.h"

namespace hostler::master {

void add_templates(Api& service);

static constexpr ApiPart template_api[] = {add_templates};
extern const Feature template_feature{
    .name = "template",
    .api = template_api,
};

}  // namespace hostler::master
