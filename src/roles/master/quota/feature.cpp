#include "roles/master/state/feature.h"
#include "roles/master/leader/term.h"
#include "roles/master/quota/usage.h"

namespace hostler::master {

void add_quotas(Api& service);

static constexpr ApiPart quota_api[] = {add_quotas};
extern const Feature quota_feature{
    .name = "quota",
    .api = quota_api,
    // Without quotas nothing is kept; with some, what changed does not pile up between two asks.
    .sweep =
        [](Term&, Desk& desk) {
            if (desk.estate.quotas.all().empty())
                desk.live.part<Usage>() = Usage{};
            else
                usage(desk);
        },
};

}  // namespace hostler::master
