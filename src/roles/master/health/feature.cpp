#include "roles/master/state/feature.h"
#include "roles/master/command/commands.h"
#include "roles/master/health/health.h"

namespace hostler::master {

static constexpr VerbRow health_verbs[] = {
    {Verb::test_gpu, note_test},
};
extern const Feature health_feature{
    .name = "health",
    .verbs = health_verbs,
};

}  // namespace hostler::master
