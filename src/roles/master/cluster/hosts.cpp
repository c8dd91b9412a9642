#include "roles/master/cluster/hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "roles/master/cluster/nodes.h"
#include "roles/master/policy/policies.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/traits.h"
#include "roles/master/state/refuse.h"
#include "roles/master/stock/reclaim.h"

namespace hostler::master {

namespace {

std::int64_t least_gpus(const ClusterPool& pool) {
    return std::max<std::int64_t>(pool.gpus, pool.gpu_type.empty() ? 0 : 1);
}

Terms terms_of(const Desk& desk, const Cluster& cluster, const ClusterPool& pool) {
    Terms terms;
    if (!pool.zone.empty()) terms.zones = {pool.zone};
    terms.hosts = pool.hosts;
    terms.labels = pool.host_labels;
    narrow(terms, policies_of(desk, cluster.tenant));
    return terms;
}

// Whether it has what the pool asks for. `healthy`: only GPUs count that may take work now.
bool suits(const Desk& desk, const Host& host, const ClusterPool& pool, const Terms& terms, bool healthy) {
    if (pool.saves && !host.facts.cluster_saves) return false;
    std::int64_t gpus = 0;
    bool admitted = false;
    for (const std::string& model : models_of(host)) {
        if (!admits(terms, traits_of(desk, host, model))) continue;
        admitted = true;
        if (!pool.gpu_type.empty() && !model_matches(pool.gpu_type, model)) continue;
        gpus += std::ranges::count_if(lendable(host, model),
                                      [&](const std::string& gpu) { return !healthy || usable(host, gpu); });
    }
    return admitted && gpus >= least_gpus(pool);
}

// Why it is not taken now; empty: it may be. Claims are not looked at.
std::string closed(const Desk& desk, const Cluster& cluster, const Host& host) {
    if (std::ranges::count(cluster.avoided, host.id) > 0) return "could not be made a node before";
    if (host.facts.addresses.empty()) return "says no address";
    if (desk.estate.volumes.by().host.has(host.id)) return "holds volumes";
    return unavailable(desk, host);
}

// All of its claims, if idle stock holds them and all of that may go.
std::optional<std::vector<std::string>> reclaimable(const Desk& desk, const std::string& host,
                                                    const IdleStock& stock) {
    const auto here = stock.by_host.find(host);
    const auto claims = claims_on(desk, host);
    if (here == stock.by_host.end() || here->second.size() != claims.size()) return std::nullopt;
    std::map<std::string, int> going;
    std::vector<std::string> ids;
    for (const Spare& spare : here->second) {
        if (++going[spare.kind] > stock.may_go.at(spare.kind)) return std::nullopt;
        ids.push_back(spare.id);
    }
    return ids;
}

}  // namespace

void WholeHosts::follow(const Desk& desk) {
    std::set<std::string> hosts = hosts_.changed(desk.estate.hosts);
    for (const std::string& id : claims_.changed(desk.estate.claims)) {
        if (const auto was = host_of_.find(id); was != host_of_.end()) {
            hosts.insert(was->second);
            host_of_.erase(was);
        }
        if (const Claim* claim = desk.estate.claims.find(id)) {
            hosts.insert(claim->host);
            host_of_.emplace(id, claim->host);
        }
    }
    for (const std::string& id : hosts) look_at(desk, id);
}

void WholeHosts::look_at(const Desk& desk, const std::string& id) {
    if (const auto was = gpus_.find(id); was != gpus_.end()) {
        empty_.erase({was->second, id}), stocked_.erase({was->second, id});
        gpus_.erase(was);
    }
    allowed_.erase(id), with_folder_.erase(id), keepers_.erase(id);
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired || !host->facts.clusters) return;
    allowed_.insert(id);
    if (host->facts.cluster_saves) {
        with_folder_.insert(id);
        if (answers(desk, id)) keepers_.insert(id);
    }
    const auto claims = desk.estate.claims.by().host.of(id);
    if (!std::ranges::all_of(claims, [](const Claim* claim) { return claim->use == ClaimUse::stock; }))
        return;
    const std::int64_t gpus = std::ssize(host->facts.gpus);
    gpus_.emplace(id, gpus);
    (claims.empty() ? empty_ : stocked_).insert({gpus, id});
}

std::string WholeHosts::keeper_after(const std::string& host) const {
    if (keepers_.empty()) return "";
    const auto next = keepers_.upper_bound(host);
    return next == keepers_.end() ? *keepers_.begin() : *next;
}

const WholeHosts& whole_hosts(const Desk& desk) {
    WholeHosts& hosts = desk.live.part<WholeHosts>();
    hosts.follow(desk);
    return hosts;
}

std::optional<HostFound> find_host(const Desk& desk, const Cluster& cluster, const ClusterPool& pool) {
    const WholeHosts& hosts = whole_hosts(desk);
    const Terms terms = terms_of(desk, cluster, pool);
    const auto fits = [&](const std::string& id) {
        const Host& host = desk.estate.hosts.at(id);
        return closed(desk, cluster, host).empty() && suits(desk, host, pool, terms, true);
    };
    const std::pair<std::int64_t, std::string> first{least_gpus(pool), ""};
    for (auto at = hosts.empty().lower_bound(first); at != hosts.empty().end(); ++at)
        if (fits(at->second)) return HostFound{at->second, {}};
    std::optional<IdleStock> stock;
    for (auto at = hosts.stocked().lower_bound(first); at != hosts.stocked().end(); ++at) {
        if (!fits(at->second)) continue;
        if (!stock) stock = idle_stock(desk);
        if (auto claims = reclaimable(desk, at->second, *stock)) return HostFound{at->second, *claims};
    }
    return std::nullopt;
}

std::string why_no_host(const Desk& desk, const Cluster& cluster, const ClusterPool& pool) {
    const WholeHosts& hosts = whole_hosts(desk);
    if (hosts.allowed().empty()) return "no host allows clusters (hostler-agent --clusters)";
    const Terms terms = terms_of(desk, cluster, pool);
    std::map<std::string, int> reasons;
    for (const std::string& id : hosts.allowed()) {
        const Host& host = desk.estate.hosts.at(id);
        if (pool.saves && !host.facts.cluster_saves) {
            ++reasons["has no folder of saves"];
        } else if (!suits(desk, host, pool, terms, false)) {
            ++reasons["not what is asked for"];
        } else if (desk.estate.claims.by().node_host.has(id)) {
            ++reasons["a node of a cluster"];
        } else if (std::string why = closed(desk, cluster, host); !why.empty()) {
            ++reasons[why.starts_with("is ") ? why.substr(3) : why];
        } else if (!desk.estate.claims.by().host.of(id).empty()) {
            ++reasons["in use"];
        } else {
            ++reasons["has GPUs that may take no work"];
        }
    }
    std::vector<std::string> parts;
    for (const auto& [why, count] : reasons) parts.push_back(fmt::format("{}: {}", why, count));
    return fmt::format("hosts that allow clusters: {} ({})", hosts.allowed().size(), fmt::join(parts, ", "));
}

namespace {

// Hosts that could be nodes of each pool, whatever is on them now.
struct Possible {
    std::vector<const ClusterPool*> pools;
    std::vector<std::int64_t> hosts;             // Of each pool.
    std::map<std::uint64_t, std::int64_t> left;  // Hosts by the set of pools that they suit.
};

std::int64_t suited(const Desk& desk, const Cluster& cluster, const ClusterPool& pool) {
    const Terms terms = terms_of(desk, cluster, pool);
    return std::ranges::count_if(whole_hosts(desk).allowed(), [&](const std::string& id) {
        return suits(desk, desk.estate.hosts.at(id), pool, terms, false);
    });
}

Possible possible(const Desk& desk, const Cluster& cluster) {
    Possible found;
    found.pools.push_back(&cluster.control);
    for (const ClusterPool& pool : cluster.pools) found.pools.push_back(&pool);
    found.hosts.resize(found.pools.size());
    std::vector<Terms> terms;
    for (const ClusterPool* pool : found.pools) terms.push_back(terms_of(desk, cluster, *pool));
    for (const std::string& id : whole_hosts(desk).allowed()) {
        const Host& host = desk.estate.hosts.at(id);
        std::uint64_t fits = 0;
        for (std::size_t i = 0; i < found.pools.size(); ++i)
            if (suits(desk, host, *found.pools[i], terms[i], false)) fits |= 1ULL << i, ++found.hosts[i];
        if (fits != 0) ++found.left[fits];
    }
    return found;
}

// The most hosts that all pools can have together, each at most what it asks for: a flow from pools to hosts.
std::vector<std::int64_t> shared_out(const Possible& possible) {
    const std::size_t n = possible.pools.size();
    std::map<std::uint64_t, std::int64_t> left = possible.left;
    std::map<std::uint64_t, std::vector<std::int64_t>> given;  // Of each set, to each pool.
    for (const auto& [fits, count] : left) given[fits].resize(n);
    std::vector<std::int64_t> got(n);
    // Gives one more host to a pool; another one that suits it may have to take one from elsewhere.
    const std::function<bool(std::size_t, std::uint64_t&)> give = [&](std::size_t pool, std::uint64_t& seen) {
        if (seen >> pool & 1) return false;
        seen |= 1ULL << pool;
        for (auto& [fits, count] : left) {
            if (!(fits >> pool & 1)) continue;
            if (count > 0) return --count, ++given[fits][pool], true;
            for (std::size_t other = 0; other < n; ++other)
                if (given[fits][other] > 0 && give(other, seen))
                    return --given[fits][other], ++given[fits][pool], true;
        }
        return false;
    };
    for (std::size_t pool = 0; pool < n; ++pool)
        while (got[pool] < possible.pools[pool]->count) {
            std::uint64_t seen = 0;
            if (!give(pool, seen)) break;
            ++got[pool];
        }
    return got;
}

// The change of a pool that no host suits after which the most hosts do.
std::string nearest(const Desk& desk, const Cluster& cluster, const ClusterPool& pool) {
    struct Change {
        std::string words;
        ClusterPool pool;
    };
    std::vector<Change> changes;
    const auto with = [&](std::string words, auto change) {
        changes.push_back({std::move(words), pool});
        change(changes.back().pool);
    };
    for (std::int64_t gpus = least_gpus(pool) - 1; gpus > 0; --gpus)
        with(fmt::format("with at least {} GPUs", gpus), [&](ClusterPool& one) { one.gpus = gpus; });
    if (!pool.zone.empty()) with("in any zone", [](ClusterPool& one) { one.zone.clear(); });
    if (!pool.host_labels.empty()) with("without labels", [](ClusterPool& one) { one.host_labels.clear(); });
    if (!pool.gpu_type.empty())
        with("with GPUs of any model", [](ClusterPool& one) { one.gpu_type.clear(); });
    if (pool.saves) with("without a folder of saves", [](ClusterPool& one) { one.saves = false; });
    if (!pool.hosts.empty()) with("on any hosts", [](ClusterPool& one) { one.hosts.clear(); });
    for (const Change& change : changes)
        if (const auto hosts = suited(desk, cluster, change.pool); hosts > 0)
            return fmt::format("{} would {}", hosts, change.words);
    return "no single change of the pool helps";
}

}  // namespace

Result<> check_possible(const Desk& desk, const Cluster& cluster) {
    if (whole_hosts(desk).allowed().empty())
        return refuse("no host allows clusters", "cluster_impossible",
                      "Start agents of hosts with --clusters.");
    const Possible found = possible(desk, cluster);
    const std::vector<std::int64_t> got = shared_out(found);
    std::string help = "Ask for fewer hosts, or start agents of more hosts with --clusters.";
    std::vector<FieldError> wrong;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const ClusterPool& pool = *found.pools[i];
        if (got[i] >= pool.count) continue;
        const std::string field = i == 0 ? "control" : fmt::format("pools[{}].count", i - 1);
        std::string why = fmt::format("of {} wanted hosts there are {}", pool.count, found.hosts[i]);
        if (found.hosts[i] == 0) {
            why = fmt::format("no host suits it; {}", nearest(desk, cluster, pool));
            help = fmt::format("{}: {}.", field, why);
        } else if (got[i] < found.hosts[i]) {
            why += fmt::format(", and the rest of the cluster leaves {} of these", got[i]);
        }
        wrong.push_back({field, std::move(why)});
    }
    if (wrong.empty()) return {};
    Error error{Code::conflict, "the hosts could not take this cluster even if all were free",
                "cluster_impossible"};
    error.help = std::move(help);
    error.fields = std::move(wrong);
    return std::unexpected(std::move(error));
}

}  // namespace hostler::master
