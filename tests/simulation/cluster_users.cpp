#include "cluster_users.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "roles/master/cluster/clusters.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::simulation {

namespace {

std::string id_in(const std::string& body) {
    boost::system::error_code wrong;
    const auto json = boost::json::parse(body, wrong);
    if (wrong || !json.is_object()) return {};
    const auto* value = json.as_object().if_contains("id");
    return value && value->is_string() ? std::string{value->as_string()} : std::string{};
}

std::string secret_in(const std::string& body) {
    boost::system::error_code wrong;
    const auto json = boost::json::parse(body, wrong);
    if (wrong || !json.is_object() || !json.as_object().contains("secret")) return {};
    return std::string{json.at("secret").as_string()};
}

Duration some_time(sim::Dice& dice, Duration most) {
    return Duration{static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(most.count())))};
}

ClusterSize some_size(sim::Dice& dice) {
    return {dice.chance(0.5) ? 3 : 1, static_cast<std::int64_t>(dice.below(3))};
}

ClusterSize size_of(const Cluster& cluster) {
    ClusterSize size{cluster.control.count, 0};
    for (const ClusterPool& pool : cluster.pools) size.workers += pool.count;
    return size;
}

std::string shown(const std::set<ClusterSize>& sizes) {
    std::string text;
    for (const ClusterSize& one : sizes) text += fmt::format(" {}+{}", one.control, one.workers);
    return text;
}

}  // namespace

ClusterUsers::ClusterUsers(Cloud& cloud) : cloud_(cloud), dice_(cloud.dice.fork("cluster users")) {
    for (const char* name : {"kim", "lou"})
        users_.push_back({.tenant = "cluster-team", .name = name, .dice = dice_.fork(name)});
}

void ClusterUsers::start() {
    cloud_.on_rewind.push_back([this](const Rewind& lost) { forget(lost); });
    for (ClusterUser& user : users_) cloud_.clients.start("cluster user", watch_over(live(user)));
}

Task<> ClusterUsers::watch_over(Task<> task) {
    ++busy_;
    auto ended = co_await std::move(task);
    --busy_;
    co_return ended;
}

Task<ClusterUsers::Answer> ClusterUsers::ask(ClusterUser& user, std::string method, std::string target,
                                             std::string body, std::string idempotency) {
    bool unsure = false;
    const std::string key = user.secret.empty() ? std::string{Cloud::operator_key} : user.secret;
    while (true) {
        const Instant asked = cloud_.world.timers.now();
        const auto answer = co_await cloud_.call(key, method, target, body, idempotency);
        if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
        const bool old = cloud_.rewound_since(asked) ||
                         (answer && (method == "GET" || answer->status >= 300) && cloud_.may_be_old(asked));
        if (answer && answer->body.contains(ClusterTruth::secret))
            cloud_.found.report(Invariant::output,
                                fmt::format("{} is told an output: {}", user.name, target));
        if (answer && answer->status < 500 && answer->status != 429 && !old)
            co_return Answer{answer->status, answer->body, unsure};
        unsure = true;
        CO_TRY(co_await sleep(cloud_.world.timers, 2s));
    }
}

Task<> ClusterUsers::live(ClusterUser& user) {
    const Answer key =
        CO_TRY(co_await ask(user, "POST", "/v1/api-keys",
                            fmt::format(R"({{"name":"{}","tenantID":"{}"}})", user.name, user.tenant)));
    user.secret = secret_in(key.body);
    cloud_.callers[user.secret] = user.name;
    while (!calm_) {
        CO_TRY(co_await sleep(cloud_.world.timers, some_time(user.dice, 20s)));
        if (!calm_) CO_TRY(co_await act(user));
    }
    co_return co_await settle(user);
}

// One of the user's; those that are to go are left out if `that_stay`. Empty: there is none.
std::string ClusterUsers::some_of(ClusterUser& user, bool that_stay) const {
    std::vector<std::string> names;
    for (const auto& [name, wanted] : user.clusters)
        if (!wanted.id.empty() && !(that_stay && wanted.delete_asked)) names.push_back(name);
    return names.empty() ? "" : names[user.dice.below(names.size())];
}

Task<> ClusterUsers::act(ClusterUser& user) {
    const std::string stays = some_of(user, true);
    const auto what = user.dice.below(10);
    if (stays.empty() && user.made < clusters_max) co_return co_await create(user);
    if (what == 0 && user.made < clusters_max) co_return co_await create(user);
    if (what < 3) co_return co_await ask_wrongly(user);
    const std::string some = some_of(user, false);
    if (some.empty()) co_return Result<>{};
    if (what < 6) co_return co_await look(user, some);
    if (stays.empty()) co_return Result<>{};
    if (what < 9) co_return co_await scale(user, stays, some_size(user.dice));
    if (user.dice.chance(0.5)) co_return co_await save(user, stays);
    if (user.dice.chance(0.5)) co_return co_await remove(user, stays);
    co_return Result<>{};
}

Task<> ClusterUsers::save(ClusterUser& user, std::string name) {
    const std::string some = user.saves.empty() ? "" : user.saves[user.dice.below(user.saves.size())];
    if (!some.empty() && user.dice.chance(0.3)) {
        (void)CO_TRY(co_await ask(user, "DELETE", "/v1/cluster-saves/" + some));
        co_return Result<>{};
    }
    if (!some.empty() && user.made < clusters_max && user.dice.chance(0.5))
        co_return co_await create(user, some);
    const Answer begun =
        CO_TRY(co_await ask(user, "POST", fmt::format("/v1/clusters/{}/saves", user.clusters.at(name).id)));
    if (begun.status == 201) user.saves.push_back(id_in(begun.body));
    co_return Result<>{};
}

Task<> ClusterUsers::create(ClusterUser& user, std::string save) {
    const std::string name = fmt::format("{}-{}", user.name, ++user.made);
    const ClusterSize size = some_size(user.dice);
    user.clusters[name].sizes = {size};
    user.clusters[name].body =
        fmt::format(R"({{"name":"{}","driver":"{}","control":{},"pools":[{{"name":"all","count":{}}}]}})",
                    name, ClusterTruth::driver_name, size.control, size.workers);
    if (!save.empty()) user.clusters[name].body.insert(1, fmt::format(R"("restore":"{}",)", save));
    ++created;
    if (user.dice.chance(0.15)) cloud_.clients.start("cluster user", watch_over(send(user, name)));
    CO_TRY(co_await send(user, name));
    if (user.dice.chance(0.8)) co_return Result<>{};
    CO_TRY(co_await sleep(cloud_.world.timers, some_time(user.dice, 20s)));
    co_return co_await send(user, name);
}

// Whoever sends it again under the same key is told of the same cluster.
Task<> ClusterUsers::send(ClusterUser& user, std::string name) {
    const Instant asked = cloud_.world.timers.now();
    const Answer answer =
        CO_TRY(co_await ask(user, "POST", "/v1/clusters", user.clusters[name].body, "create-" + name));
    WantedCluster& wanted = user.clusters[name];
    if (answer.status == 201) {
        const std::string id = id_in(answer.body);
        if (!wanted.id.empty() && wanted.id != id && !cloud_.rewound_since(asked))
            cloud_.found.report(
                Invariant::durable,
                fmt::format("cluster {} is {} and, when it is sent again, {}", name, wanted.id, id));
        wanted.id = id;
        wanted.create = Wish::acknowledged;
        wanted.told = cloud_.world.timers.now();
    } else if (wanted.create == Wish::asked && !answer.unsure && answer.status != 409) {
        wanted.create = Wish::refused;
        wanted.told = cloud_.world.timers.now();
        ++refused;
    }
    co_return Result<>{};
}

Task<> ClusterUsers::scale(ClusterUser& user, std::string name, ClusterSize size) {
    WantedCluster& wanted = user.clusters.at(name);
    const std::set<ClusterSize> before = wanted.sizes;
    wanted.sizes.insert(size);
    const Answer answer = CO_TRY(
        co_await ask(user, "PATCH", "/v1/clusters/" + wanted.id,
                     fmt::format(R"({{"control":{},"pool":"all","count":{}}})", size.control, size.workers),
                     fmt::format("scale-{}-{}", name, ++scaled)));
    if (answer.unsure) co_return Result<>{};
    wanted.sizes = answer.status < 300 ? std::set{size} : before;
    if (answer.status < 300 && before.size() > 1) wanted.sizes.insert(before.begin(), before.end());
    co_return Result<>{};
}

Task<> ClusterUsers::remove(ClusterUser& user, std::string name) {
    WantedCluster& wanted = user.clusters.at(name);
    if (wanted.id.empty()) co_return Result<>{};
    wanted.delete_asked = true;
    const Answer answer = CO_TRY(co_await ask(user, "DELETE", "/v1/clusters/" + wanted.id));
    if (answer.status >= 300 && !(answer.unsure && answer.status == 404)) co_return Result<>{};
    ++deleted;
    wanted.delete_acknowledged = true;
    wanted.delete_told = cloud_.world.timers.now();
    co_return Result<>{};
}

Task<> ClusterUsers::look(ClusterUser& user, std::string name) {
    const WantedCluster& wanted = user.clusters.at(name);
    constexpr std::array<const char*, 3> targets = {"", "/explain", "/events"};
    const std::string target =
        fmt::format("/v1/clusters/{}{}", wanted.id, targets[user.dice.below(targets.size())]);
    const Answer answer = CO_TRY(co_await ask(user, "GET", target));
    if (answer.status == 404 && wanted.create == Wish::acknowledged && !wanted.delete_asked)
        cloud_.found.report(Invariant::durable,
                            fmt::format("cluster {} was acknowledged, and {} is 404", name, target));
    (void)CO_TRY(co_await ask(user, "GET", "/v1/clusters"));
    (void)CO_TRY(co_await ask(user, "GET", "/v1/events"));
    co_return Result<>{};
}

Task<> ClusterUsers::ask_wrongly(ClusterUser& user) {
    const std::string driver = fmt::format(R"("driver":"{}")", ClusterTruth::driver_name);
    const std::string some = some_of(user, false);
    std::string method = "POST", target = "/v1/clusters", body;
    switch (user.dice.below(some.empty() ? 5 : 8)) {
        case 0: body = R"({"name":"wrong","control":2,)" + driver + "}"; break;
        case 1: body = R"({"name":"wrong","driver":"of-nobody"})"; break;
        case 2: body = R"({"name":"wrong","pools":[{"name":"all","count":900}],)" + driver + "}"; break;
        case 3: body = R"({"name":"wrong","version":"v9",)" + driver + "}"; break;
        case 4: body = R"({"name":"wrong","values":{"podSubnet":"a\nb"},)" + driver + "}"; break;
        case 5: method = "PATCH", target += "/" + some, body = R"({"pool":"of-nobody","count":1})"; break;
        case 6: method = "PATCH", target += "/" + some, body = R"({"control":2})"; break;
        default: method = "DELETE", target += "/" + some + "?force=true"; break;
    }
    const Answer answer = CO_TRY(co_await ask(user, method, target, body));
    if (answer.status < 300)
        cloud_.found.report(Invariant::durable, fmt::format("{} {} {} was accepted", method, target, body));
    ++refused;
    co_return Result<>{};
}

// Half of those that are left go. For the others all hosts are tried once more, as people do who are told of
// a step that failed; what was not made in time goes, too, up to the deadline of the last that was created.
Task<> ClusterUsers::settle(ClusterUser& user) {
    std::vector<std::string> names;
    for (const auto& [name, wanted] : user.clusters)
        if (!wanted.delete_asked) names.push_back(name);
    for (const std::string& name : names) {
        if (user.clusters.at(name).id.empty()) CO_TRY(co_await send(user, name));
        if (user.clusters.at(name).id.empty()) continue;
        if (user.dice.chance(0.4)) CO_TRY(co_await remove(user, name));
    }
    constexpr int rounds_max = 6;  // Minutes.
    for (int round = 0; round < rounds_max; ++round) {
        CO_TRY(co_await sleep(cloud_.world.timers, 1min));
        for (const std::string& name : names) {
            const WantedCluster& wanted = user.clusters.at(name);
            if (wanted.id.empty() || (wanted.delete_asked && wanted.delete_acknowledged)) continue;
            const Answer answer = CO_TRY(co_await ask(user, "GET", "/v1/clusters/" + wanted.id));
            if (answer.body.contains(R"("state":"failed")") || wanted.delete_asked)
                CO_TRY(co_await remove(user, name));
            else if (!answer.body.contains(R"("state":"ready")") && wanted.sizes.size() == 1)
                CO_TRY(co_await scale(user, name, *wanted.sizes.begin()));
        }
    }
    co_return Result<>{};
}

void ClusterUsers::forget(const Rewind& lost) {
    for (ClusterUser& user : users_)
        for (auto& [name, wanted] : user.clusters) {
            if (wanted.told >= lost.since) wanted.create = Wish::asked, wanted.id.clear();
            if (wanted.delete_told >= lost.since) wanted.delete_acknowledged = false;
        }
}

void ClusterUsers::check(const master::Term& term) const {
    const auto report = [&](const std::string& text) { cloud_.found.report(Invariant::durable, text); };
    const master::Desk& desk = term.look();
    for (const ClusterUser& user : users_)
        for (const auto& [name, wanted] : user.clusters) {
            const Cluster* cluster = wanted.id.empty()
                                         ? master::find_cluster(desk, user.tenant, "default", name)
                                         : desk.estate.clusters.find(wanted.id);
            if (wanted.create == Wish::acknowledged && !wanted.delete_asked &&
                (!cluster || cluster->name != name))
                report(fmt::format("cluster {} ({}) was acknowledged and is gone", name, wanted.id));
            if (wanted.create == Wish::refused && cluster)
                report(fmt::format("cluster {} was refused, and is there", name));
            if (!cluster) continue;
            const bool goes =
                cluster->phase == ClusterPhase::deleting || cluster->phase == ClusterPhase::deleted;
            if (wanted.delete_acknowledged && !goes)
                report(
                    fmt::format("cluster {} was deleted, and is {}", name, master::text_of(cluster->phase)));
            if (!wanted.delete_asked && goes)
                report(fmt::format("cluster {} is {}, and that was not asked for", name,
                                   master::text_of(cluster->phase)));
            if (!goes && !wanted.sizes.contains(size_of(*cluster)))
                report(fmt::format("cluster {} is to have {}, and was told{}", name,
                                   shown({size_of(*cluster)}), shown(wanted.sizes)));
        }
}

// It has to wait for hosts only while there is none that it could have.
std::string ClusterUsers::waits(const master::Desk& desk, const Cluster& cluster) const {
    if (cluster.reason != "no_host")
        return fmt::format("cluster {} ({}) is {}: {} {}", cluster.name, cluster.id,
                           master::text_of(cluster.phase), cluster.reason, cluster.message);
    for (const auto& [id, host] : desk.estate.hosts.all()) {
        if (desk.estate.claims.by().host.of(id).empty() && desk.estate.volumes.by().host.of(id).empty() &&
            std::ranges::count(cluster.avoided, id) == 0 && master::unavailable(desk, host).empty())
            return fmt::format("cluster {} ({}) waits for a host, and {} is free", cluster.name, cluster.id,
                               id);
    }
    return {};
}

std::string ClusterUsers::unsettled_save(const master::Desk& desk) const {
    for (const auto& [id, save] : desk.estate.cluster_saves.all()) {
        if (save.phase == SavePhase::saving || save.phase == SavePhase::deleting)
            return fmt::format("save {} is {}: {}", id, master::text_of(save.phase), save.message);
        // A store that was set back may know a save whose file was deleted since.
        if (save.phase == SavePhase::saved && !cloud_.rewound_since({}) && !cloud_.clusters.has_save(id))
            return fmt::format("save {} is saved, and its file is not there", id);
    }
    return {};
}

std::string ClusterUsers::unsettled(const master::Term& term) const {
    const master::Desk& desk = term.look();
    made = 0;
    for (const auto& [id, cluster] : desk.estate.clusters.all()) {
        if (cluster.phase == ClusterPhase::ready) {
            ++made;
            std::int64_t ready = 0;
            for (const ClusterNode* node : desk.estate.cluster_nodes.by().cluster.of(id))
                ready += node->phase == NodePhase::ready && node->wanted && node->healthy;
            const ClusterSize size = size_of(cluster);
            if (ready != size.control + size.workers)
                return fmt::format("cluster {} is ready with {} of {} nodes", cluster.name, ready,
                                   size.control + size.workers);
            if (!cloud_.clusters.answers(id))
                return fmt::format("cluster {} is ready, and its API does not answer", cluster.name);
            continue;
        }
        if (std::string why = waits(desk, cluster); !why.empty()) return why;
    }
    for (const auto& [id, node] : desk.estate.cluster_nodes.all()) {
        const Cluster* cluster = desk.estate.clusters.find(node.cluster);
        if (!cluster || (node.phase != NodePhase::ready && cluster->reason != "no_host"))
            return fmt::format("node {} ({}) is {}: {} {}", node.name, id, master::text_of(node.phase),
                               node.reason, node.message);
    }
    if (std::string why = unsettled_save(desk); !why.empty()) return why;
    for (const ClusterTruth::Member& member : cloud_.clusters.members()) {
        const bool known =
            std::ranges::any_of(desk.estate.cluster_nodes.by().cluster.of(member.cluster),
                                [&](const ClusterNode* node) { return node->name == member.node; });
        if (!known)
            return fmt::format("cluster {} has a member {} that is no node", member.cluster, member.node);
    }
    return {};
}

}  // namespace hostler::simulation
