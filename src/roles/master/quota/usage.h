// What tenants, their projects and their people use at the moment, as quotas count it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "domain/quota/check.h"
#include "domain/quota/quota.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Not stored: each term builds it from the estate and then follows changes alone. It always equals a fresh
// build.
//
// An instance that has not ended counts as one, and uses what its claim holds; where it has none, what is
// reserved for it. Idle stock, what an ended instance has not left yet, and unmanaged workloads count for no
// tenant. A node of a cluster uses the whole host. A volume counts until it is deleted, with the size that it
// grows to, a job until it is over, a cluster until it is deleted.
class Usage {
public:
    static constexpr bool follows_estate = true;

    // Sees all that was changed since it was called last. To be called before anything else here is.
    void follow(const Desk& desk);

    // Of a tenant (project and subject empty), of a project of it, or of a subject in it ("user/u-…",
    // "account/sa-…"; project empty). Keys: see Amounts.
    Amounts used(const std::string& tenant, const std::string& project, const std::string& subject) const;
    // What an instance is counted with.
    Amounts of_instance(const std::string& instance) const;

    using Scope = std::tuple<std::string, std::string, std::string>;  // Tenant, project, subject.
    const std::map<Scope, Amounts>& all() const { return used_; }

private:
    struct Counted {
        std::string tenant, project, subject;
        Amounts amounts;
    };
    void count(std::map<std::string, Counted>& rows, const std::string& id, Counted now);
    void look_at_holder(const Desk& desk, const std::string& id);
    void look_at_volume(const Desk& desk, const std::string& id);
    void look_at_job(const Desk& desk, const std::string& id);
    void look_at_cluster(const Desk& desk, const std::string& id);

    struct Followed {
        Follower<Claim> claims;
        Follower<Instance> instances;
        Follower<Volume> volumes;
        Follower<Job> jobs;
        Follower<Cluster> clusters;
        Follower<Host> hosts;
    };

    struct Place {
        std::string holder, host;
    };

    Followed followed_;
    std::map<Scope, Amounts> used_;                         // None is empty.
    std::map<std::string, Counted> holders_;                // By instance.
    std::map<std::string, Counted> volumes_;                // By volume.
    std::map<std::string, Counted> jobs_;                   // By job.
    std::map<std::string, Counted> clusters_;               // By cluster.
    std::map<std::string, Place> claims_;                   // Where each is, and whose.
    std::map<std::string, std::set<std::string>> by_host_;  // Claims that say no models: their hosts do.
};

// As it is now.
Usage& usage(const Desk& desk);

// "user/u-…", "account/sa-…" of a creator; empty: an API key of the operator or of a tenant made it, and no
// quota of a subject counts.
std::string counted_subject(const std::string& created_by);

}  // namespace hostler::master
