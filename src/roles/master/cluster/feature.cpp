#include "roles/master/state/feature.h"
#include "roles/master/cluster/reconcile.h"
#include "roles/master/cluster/saves.h"
#include "roles/master/cluster/steps.h"
#include "roles/master/cluster/watch.h"

namespace hostler::master {

void add_clusters(Api& service);
void add_cluster_saves(Api& service);

namespace {

// Steps are about a node or about a save.
void any_step_answered(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    is_of_save(desk, command.subject) ? save_answered(desk, command, answer)
                                      : step_answered(desk, command, answer);
}
void any_step_expired(Desk& desk, const std::string& subject) {
    is_of_save(desk, subject) ? save_expired(desk, subject) : step_expired(desk, subject);
}

constexpr ApiPart cluster_api[] = {add_clusters, add_cluster_saves};
constexpr VerbRow cluster_verbs[] = {
    {Verb::node_step, any_step_answered, nullptr, any_step_expired},
    {Verb::node_clean, check_answered, nullptr, check_expired},
};

}  // namespace

extern const Feature cluster_feature{
    .name = "cluster",
    .api = cluster_api,
    .verbs = cluster_verbs,
    .sweep = [](Term&, Desk& desk) { look_at_clusters(desk), look_at_saves(desk); },
    .host_gone = node_host_gone,
};

}  // namespace hostler::master
