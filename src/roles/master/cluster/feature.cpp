#include "roles/master/state/feature.h"
#include "roles/master/cluster/reconcile.h"
#include "roles/master/cluster/steps.h"
#include "roles/master/cluster/watch.h"

namespace hostler::master {

void add_clusters(Api& service);

namespace {

constexpr ApiPart cluster_api[] = {add_clusters};
constexpr VerbRow cluster_verbs[] = {
    {Verb::node_step, step_answered, nullptr, step_expired},
    {Verb::node_clean, check_answered, nullptr, check_expired},
};

}  // namespace

extern const Feature cluster_feature{
    .name = "cluster",
    .api = cluster_api,
    .verbs = cluster_verbs,
    .sweep = [](Term&, Desk& desk) { look_at_clusters(desk); },
    .host_gone = node_host_gone,
};

}  // namespace hostler::master
