#include "tenants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "core/quantity.h"
#include "http/client.h"

namespace hostler::simulation {

namespace {

// Most are ordinary; each other ends in a way of its own.
constexpr std::array<std::string_view, 12> images = {"app:1",   "app:1",     "app:1",     "app:1",
                                                     "app:1",   "app:1",     "slow:1",    "stubborn:1",
                                                     "exits:1", "missing:1", "refused:1", "never-ready:1"};

// What every other instance asks of its host, with a comma behind it; empty: nothing.
std::string placement_for(Tenant& tenant) {
    constexpr std::array<std::string_view, 8> wishes = {
        R"("labels":{"disk":"nvme"})",
        R"("trust":"trusted")",
        R"("racks":["r0","r1"])",
        R"("zones":["nj","lon"],"group":"web","spread":"zone")",
        R"("group":"web","apart":"host")",
        R"("group":"web","pack":"host","isolation":"container")",
        R"("model":"h100","gpuMemory":"80","vendor":"nvidia")",
        R"("labels":{"disk":"hdd"},"trust":"trusted","racks":["r2"])"};
    if (tenant.made % 2 == 0) return {};
    return fmt::format(R"("placement":{{{}}},)",
                       wishes[static_cast<std::size_t>(tenant.made / 2) % wishes.size()]);
}

template <class Map>
std::vector<std::string> names_of(const Map& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
}

}  // namespace

Tenants::Tenants(Cloud& in, std::vector<std::string> names)
    : cloud(in),
      people(in, names,
             [this](std::string key, std::string method, std::string target, std::string body, bool& unsure) {
                 return insist(std::move(key), std::move(method), std::move(target), std::move(body), "",
                               unsure);
             }),
      watchers(
          in, people,
          [this](const Look& by, const std::string& what, const std::string& told) { hear(by, what, told); }),
      dice_(in.dice.fork("tenants")) {
    for (const std::string& name : names) all[name] = {.name = name, .dice = dice_.fork(name)};
}

void Tenants::start() {
    cloud.on_recovery = [this](master::Term& term) { check(term); };
    cloud.on_rewind.push_back([this](const Rewind& lost) { forget(lost); });
    cloud.clients.start("operator", watch_over(keep_stock()));
    cloud.clients.start("operator", watch_over(describe_hosts()));
    for (auto& [name, tenant] : all) cloud.clients.start("tenant", watch_over(live(tenant)));
}

void Tenants::trouble() {
    for (const auto& [name, tenant] : all) {
        cloud.clients.start("trouble", watch_over(people.trouble(name)));
        cloud.clients.start("watcher", watch_over(watchers.watch(name)));
        cloud.clients.start("operator", watch_over(keep_quotas(name)));
    }
}

Task<> Tenants::watch_over(Task<> task) {
    ++busy_;
    auto ended = co_await std::move(task);
    --busy_;
    co_return ended;
}

Task<> Tenants::think(Tenant& tenant, Duration max) {
    co_return co_await sleep(
        cloud.world.timers,
        Duration{static_cast<std::int64_t>(tenant.dice.below(static_cast<std::uint64_t>(max.count())))});
}

Task<http::Response> Tenants::insist(std::string key, std::string method, std::string target,
                                     std::string body, std::string idempotency, bool& unsure) {
    while (true) {
        ++calls;
        const Instant asked = cloud.world.timers.now();
        const auto answer = co_await cloud.call(key, method, target, body, idempotency);
        if (answer && answer->status < 500 && answer->status != 429 &&
            !doubtful(asked, method, answer->status)) {
            ++acknowledged;
            co_return *answer;
        }
        if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
        unsure = true;
        CO_TRY(co_await sleep(cloud.world.timers, 2s));
    }
}

Task<http::Response> Tenants::once_as(const Look& then, std::string method, std::string target,
                                      std::string body, std::string idempotency) {
    ++calls;
    const std::string what = fmt::format("{} {}", method, target);
    auto answer = CO_TRY(co_await cloud.call(then.by->secret, std::move(method), std::move(target), body,
                                             std::move(idempotency)));
    over_quota += answer.body.contains("quota_exceeded");
    people.judge(then, what, answer.status, answer.body);
    hear(then, what + " " + body, answer.body);
    co_return answer;
}

Task<Tenants::Asked> Tenants::ask_as(CredentialPtr by, std::string method, std::string target,
                                     std::string body, std::string idempotency, SwitchPtr place) {
    Asked asked;
    const Look first = people.look(by);
    while (true) {
        // What an earlier try has made may be told by a later one.
        const Look then = people.look(by, asked.unsure ? nullptr : place);
        auto answer = co_await once_as(then, method, target, body, idempotency);
        if (answer && answer->status < 500 && answer->status != 429 &&
            !doubtful(then.asked, method, answer->status)) {
            ++acknowledged;
            asked.answer = std::move(*answer);
            asked.good = people.good(first);
            co_return asked;
        }
        if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
        asked.unsure = true;
        CO_TRY(co_await sleep(cloud.world.timers, 2s));
    }
}

// What was done is done, whoever says so; what is shown, or refused, may be told from an older memory.
bool Tenants::doubtful(Instant asked, const std::string& method, int status) const {
    return cloud.rewound_since(asked) || ((method == "GET" || status >= 300) && cloud.may_be_old(asked));
}

void Tenants::forget(const Rewind& lost) {
    for (auto& [tenant_name, tenant] : all) {
        tenant.has_lab = false;
        for (auto& [name, wanted] : tenant.instances) {
            if (wanted.told >= lost.since) wanted.start = Wish::asked;
            if (wanted.stop_told >= lost.since) wanted.stop_acknowledged = false;
            if (wanted.used >= lost.since) wanted.used = {};
            if (wanted.shown >= lost.since) wanted.id.clear();
        }
        for (auto& [name, wanted] : tenant.volumes) {
            if (wanted.told >= lost.since) wanted.create = Wish::asked;
            wanted.sizes.erase(wanted.sizes.lower_bound(lost.since), wanted.sizes.end());
        }
    }
    for (auto told = stock_told.lower_bound(lost.since); told != stock_told.end();
         told = stock_told.erase(told)) {
        stock_acknowledged -= told->second;
        (told->second > 0 ? stock_asked_max : stock_asked_min) += std::abs(told->second);
    }
}

Task<> Tenants::keep_stock() {
    const std::string key{Cloud::operator_key};
    for (int round = 0; !calm_ && round <= actions_max; ++round) {
        const int number = round == 0 ? 3 : 1;
        const bool more = round == 0 || dice_.chance(0.6);
        const std::string shape =
            round == 0 ? R"(,"cpu":"8","memory":"32Gi","gpuType":"H100 SXM5 80GB","gpuNum":1)" : "";
        const std::string body = fmt::format(R"({{"number":{},"operationID":"stock-{}","specName":"{}"{}}})",
                                             number, round, spec, shape);
        bool unsure = false;
        more ? stock_asked_max += number : stock_asked_min += number;
        const auto answer =
            CO_TRY(co_await insist(key, more ? "POST" : "DELETE", "/stocks", body, "", unsure));
        // A try that nobody answered may still be done, after a later one was refused.
        if (answer.status == 200 || !unsure) more ? stock_asked_max -= number : stock_asked_min -= number;
        if (answer.status == 200) {
            stock_acknowledged += more ? number : -number;
            stock_told[cloud.world.timers.now()] += more ? number : -number;
        }
        CO_TRY(co_await sleep(cloud.world.timers,
                              Duration{static_cast<std::int64_t>(dice_.below(20'000'000'000))}));
    }
    co_return Result<>{};
}

// Now and then the operator says otherwise how much the tenant, its project, or one of its people may use.
Task<> Tenants::keep_quotas(std::string tenant) {
    sim::Dice dice = cloud.dice.fork("quotas of " + tenant);
    const std::string key{Cloud::operator_key};
    const std::array<std::string, 5> scopes = {"", "", R"(,"project":"lab")",
                                               fmt::format(R"(,"subject":"user/bob@{}")", tenant),
                                               R"(,"subject":"account/ci")"};
    while (!calm_) {
        CO_TRY(co_await sleep(cloud.world.timers, std::chrono::milliseconds{dice.below(15'000)}));
        const std::string of = fmt::format(R"("tenantID":"{}"{})", tenant, scopes[dice.below(scopes.size())]);
        const auto limit = [&](const char* resource, std::uint64_t least, const char* unit) {
            return fmt::format(R"({{"resource":"{}","limit":"{}{}"}})", resource, least + dice.below(4),
                               unit);
        };
        const std::string body =
            fmt::format(R"({{{},"limits":[{},{},{},{}]}})", of, limit("instances", 1, ""),
                        limit("gpus", 0, ""), limit("gpus:H100", 1, ""), limit("volumes", 1, "Gi"));
        const bool limits = dice.chance(0.8);
        bool unsure = false;
        (void)CO_TRY(co_await insist(key, limits ? "PUT" : "DELETE", "/v1/quotas",
                                     limits ? body : "{" + of + "}", "", unsure));
    }
    co_return Result<>{};
}

// Now and then the operator says something else of a host.
Task<> Tenants::describe_hosts() {
    sim::Dice dice = cloud.dice.fork("describing");
    for (int round = 0; !calm_ && round < actions_max; ++round) {
        CO_TRY(co_await sleep(cloud.world.timers,
                              Duration{static_cast<std::int64_t>(dice.below(20'000'000'000))}));
        const std::string& host = cloud.hosts[dice.below(cloud.hosts.size())];
        const std::string body =
            fmt::format(R"({{"rack":"r{}","labels":{{"disk":"{}"}},"trust":"{}"}})", dice.below(3),
                        dice.chance(0.7) ? "nvme" : "hdd", dice.chance(0.7) ? "trusted" : "community");
        bool unsure = false;
        (void)CO_TRY(co_await insist(std::string{Cloud::operator_key}, "PATCH", "/v1/hosts/" + host, body, "",
                                     unsure));
    }
    co_return Result<>{};
}

Task<> Tenants::live(Tenant& tenant) {
    CO_TRY(co_await people.settle_in(tenant.name));
    tenant.has_lab = true;
    for (int action = 0; !calm_ && action < actions_max; ++action) {
        CO_TRY(co_await think(tenant, 8s));
        CO_TRY(co_await act(tenant));
    }
    co_return Result<>{};
}

Task<> Tenants::act(Tenant& tenant) {
    const auto instances = names_of(tenant.instances);
    const auto volumes = names_of(tenant.volumes);
    const auto some = [&](const auto& names) { return names[tenant.dice.below(names.size())]; };
    switch (tenant.dice.below(12)) {
        case 0:
        case 1:
        case 2:
            if (tenant.instances.size() < instances_max) CO_TRY(co_await start_one(tenant));
            break;
        case 3:
            if (!instances.empty()) CO_TRY(co_await stop_one(tenant, some(instances)));
            break;
        case 4:
            if (volumes.size() < 2)
                CO_TRY(co_await make_volume(tenant));
            else
                CO_TRY(co_await grow_volume(tenant, some(volumes)));
            break;
        case 5:
            if (!volumes.empty() && tenant.dice.chance(0.3))
                CO_TRY(co_await delete_volume(tenant, some(volumes)));
            break;
        case 6: CO_TRY(co_await look(tenant)); break;
        case 7:
        case 8:
            if (!instances.empty()) CO_TRY(co_await open(tenant, some(instances)));
            break;
        case 9:
            CO_TRY(co_await pry(tenant));
            CO_TRY(co_await pry_by_project(tenant));
            CO_TRY(co_await pry_in_lists(tenant));
            break;
        case 10:
        case 11:
            if (!instances.empty()) CO_TRY(co_await rest_one(tenant, some(instances)));
            break;
    }
    co_return Result<>{};
}

Task<std::string> Tenants::some_project(Tenant& tenant) {
    if (tenant.made % 2 == 0) co_return std::string{"default"};
    bool unsure = false;
    if (!tenant.has_lab) {
        const auto answer = CO_TRY(
            co_await insist(std::string{Cloud::operator_key}, "POST", "/v1/projects",
                            fmt::format(R"({{"name":"lab","tenantID":"{}"}})", tenant.name), "", unsure));
        tenant.has_lab = answer.status == 201 || answer.body.contains("project_exists");
    }
    co_return std::string{"lab"};
}

Task<> Tenants::start_one(Tenant& tenant) {
    const std::string name = fmt::format("{}-{}", tenant.name, ++tenant.made);
    const std::string image{images[tenant.dice.below(images.size())]};
    std::string volumes, project = CO_TRY(co_await some_project(tenant));
    for (const auto& [volume, wanted] : tenant.volumes)
        if (wanted.create == Wish::acknowledged && !wanted.delete_asked && volumes.empty() &&
            tenant.dice.chance(0.4)) {
            volumes = fmt::format(R"({{"name":"{}","mountPath":"/data","readOnly":{}}})", volume,
                                  tenant.dice.chance(0.4));
            project = wanted.project;
        }
    const int unused_s = tenant.dice.chance(0.4) ? static_cast<int>(15 + tenant.dice.below(45)) : 0;
    const bool moves = volumes.empty() && tenant.made % 2 == 0;
    const std::string body = fmt::format(
        R"({{{}"project":"{}","lossPolicy":"{}","inactivityTimeoutSeconds":{},"instanceID":"{}","tenantID":"{}","tenantName":"{}","image":"registry.example/{}","specName":"{}",)"
        R"("template":{{"ports":[{{"port":8080,"isProbe":true}}],"envs":[{{"name":"WHO","value":"{}"}},{{"name":"TOKEN","value":"{}-{}"}}],"volumes":[{}]}}}})",
        placement_for(tenant), project, moves ? "move" : "stay", unused_s, name, tenant.name, tenant.name,
        image, spec, tenant.name, Cloud::secret, name, volumes);
    WantedInstance& wanted = tenant.instances[name];
    wanted.image = image;
    wanted.body = body;
    wanted.project = project;
    wanted.unused_s = unused_s;
    const Asked asked = CO_TRY(co_await ask_as(some(tenant, project), "POST", "/gpu-instances", body, "",
                                               people.project(tenant.name, project)));
    if (asked.answer.status == 200) wanted.start = Wish::acknowledged;
    // When an earlier try has made it and it has ended since, its name is refused too.
    else if (!asked.unsure)
        wanted.start = Wish::refused;
    wanted.told = cloud.world.timers.now();
    co_return Result<>{};
}

Task<> Tenants::stop_one(Tenant& tenant, std::string name) {
    WantedInstance& wanted = tenant.instances.at(name);
    const bool known = wanted.start == Wish::acknowledged;
    wanted.stop_asked = true;
    const Asked asked =
        CO_TRY(co_await ask_as(some(tenant, wanted.project), "DELETE", "/gpu-instances/" + name));
    if (asked.answer.status == 200) {
        wanted.stop_acknowledged = true;
        wanted.stop_told = cloud.world.timers.now();
    }
    if (asked.answer.status != 200 && asked.good && known && wanted.start == Wish::acknowledged)
        cloud.found.report(Invariant::durable,
                           fmt::format("{} was acknowledged, and stopping it answers {}: {}", name,
                                       asked.answer.status, asked.answer.body));
    co_return Result<>{};
}

// Stopped for now, started, restarted, kept: whatever its state allows.
Task<> Tenants::rest_one(Tenant& tenant, std::string name) {
    constexpr std::array<std::string_view, 4> verbs = {"stop", "start", "restart", "keep-alive?"};
    const std::string_view verb = verbs[tenant.dice.below(verbs.size())];
    const bool keeps = verb.ends_with('?');
    const WantedInstance& wanted = tenant.instances.at(name);
    const Asked asked = CO_TRY(co_await ask_as(
        some(tenant, wanted.project), "POST",
        fmt::format("/v1/instances/{}/{}", name, verb.substr(0, verb.size() - (keeps ? 1 : 0))),
        keeps ? R"({"forSeconds":20})" : ""));
    const int status = asked.answer.status;
    if (status != 200 && status != 409 && asked.good && wanted.start == Wish::acknowledged)
        cloud.found.report(Invariant::durable,
                           fmt::format("{} {} answers {}: {}", verb, name, status, asked.answer.body));
    co_return Result<>{};
}

Task<> Tenants::make_volume(Tenant& tenant) {
    const std::string name = fmt::format("{}-vol-{}", tenant.name, ++tenant.made);
    const std::string project = CO_TRY(co_await some_project(tenant));
    WantedVolume& wanted = tenant.volumes[name];
    wanted.project = project;
    const Asked asked =
        CO_TRY(co_await ask_as(some(tenant, project), "POST", "/v1/volumes",
                               fmt::format(R"({{"name":"{}","size":"1Gi","project":"{}"}})", name, project),
                               name, people.project(tenant.name, project)));
    wanted.create = asked.answer.status == 201 ? Wish::acknowledged
                    : asked.unsure             ? Wish::asked
                                               : Wish::refused;
    wanted.told = cloud.world.timers.now();
    co_return Result<>{};
}

// Asks for more, and then for what it has by now.
Task<> Tenants::grow_volume(Tenant& tenant, std::string name) {
    WantedVolume& wanted = tenant.volumes.at(name);
    const std::string target = "/v1/volumes/" + name;
    const Asked asked = CO_TRY(co_await ask_as(some(tenant, wanted.project), "PATCH", target,
                                               fmt::format(R"({{"size":"{}Gi"}})", wanted.asked_gib + 1)));
    if (asked.answer.status == 202) ++wanted.asked_gib;
    const Asked shown = CO_TRY(co_await ask_as(some(tenant, wanted.project), "GET", target));
    if (shown.answer.status != 200) co_return Result<>{};
    boost::system::error_code wrong;
    const auto json = boost::json::parse(shown.answer.body, wrong);
    if (wrong) co_return Result<>{};
    const auto size = parse_quantity(std::string{json.at("size").as_string()});
    if (size && size->units() < wanted.size_bytes())
        cloud.found.report(Invariant::durable, fmt::format("volume {} had {} bytes and is told to have {}",
                                                           name, wanted.size_bytes(), size->units()));
    if (size) wanted.sizes[cloud.world.timers.now()] = std::max(wanted.size_bytes(), size->units());
    co_return Result<>{};
}

Task<> Tenants::delete_volume(Tenant& tenant, std::string name) {
    WantedVolume& wanted = tenant.volumes.at(name);
    const bool asked_before = std::exchange(wanted.delete_asked, true);
    const Asked asked =
        CO_TRY(co_await ask_as(some(tenant, wanted.project), "DELETE", "/v1/volumes/" + name));
    const bool first = !asked.unsure && !asked_before;
    if (first && (asked.answer.status == 409 || asked.denied()))
        wanted.delete_asked = false;  // It is in use.
    if (first && asked.answer.status == 404 && asked.good && wanted.create == Wish::acknowledged)
        cloud.found.report(Invariant::durable,
                           fmt::format("volume {} was acknowledged, and nobody knows it", name));
    co_return Result<>{};
}

}  // namespace hostler::simulation
