#include "roles/master/state/feature.h"
#include "roles/master/unmanaged/unmanaged.h"

namespace hostler::master {

void add_foreign(Api& service);

static constexpr ApiPart unmanaged_api[] = {add_foreign};
extern const Feature unmanaged_feature{
    .name = "unmanaged",
    .api = unmanaged_api,
    .host_reported =
        [](Desk& desk, const std::string& host, bool complete) {
            if (!complete) return;
            note_word(desk, host);
            note_foreign(desk, host);
        },
};

}  // namespace hostler::master
