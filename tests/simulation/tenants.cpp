#include "tenants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "core/quantity.h"
#include "http/client.h"
#include "roles/master/instance/lifecycle.h"

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

// An answer that did not come ends what was tried, not the tenant.
Result<> over(const Error& error) {
    if (error.code == Code::cancelled) return std::unexpected(error);
    return {};
}

template <class Map>
std::vector<std::string> names_of(const Map& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
}

}  // namespace

Tenants::Tenants(Cloud& in, std::vector<std::string> names) : cloud(in), dice_(in.dice.fork("tenants")) {
    for (const std::string& name : names) all[name] = {.name = name, .dice = dice_.fork(name)};
}

void Tenants::start() {
    cloud.on_recovery = [this](master::Term& term) { check(term); };
    cloud.on_rewind.push_back([this](const Rewind& lost) { forget(lost); });
    cloud.clients.start("operator", watch_over(keep_stock()));
    cloud.clients.start("operator", watch_over(describe_hosts()));
    for (auto& [name, tenant] : all) cloud.clients.start("tenant", watch_over(live(tenant)));
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
    for (int action = 0; !calm_ && action < actions_max; ++action) {
        CO_TRY(co_await think(tenant, 8s));
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
            case 9: CO_TRY(co_await pry(tenant)); break;
            case 10:
            case 11:
                if (!instances.empty()) CO_TRY(co_await rest_one(tenant, some(instances)));
                break;
        }
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
        hear(tenant, "POST /v1/projects", answer.body);
        tenant.has_lab = true;
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
    wanted.unused_s = unused_s;
    bool unsure = false;
    const auto answer =
        CO_TRY(co_await insist(cloud.keys.at(tenant.name), "POST", "/gpu-instances", body, "", unsure));
    if (answer.status == 200) wanted.start = Wish::acknowledged;
    // When an earlier try has made it and it has ended since, its name is refused too.
    else if (!unsure)
        wanted.start = Wish::refused;
    wanted.told = cloud.world.timers.now();
    hear(tenant, "POST /gpu-instances", answer.body);
    co_return Result<>{};
}

Task<> Tenants::stop_one(Tenant& tenant, std::string name) {
    WantedInstance& wanted = tenant.instances.at(name);
    const bool known = wanted.start == Wish::acknowledged;
    wanted.stop_asked = true;
    bool unsure = false;
    const auto answer = CO_TRY(
        co_await insist(cloud.keys.at(tenant.name), "DELETE", "/gpu-instances/" + name, "", "", unsure));
    if (answer.status == 200) {
        wanted.stop_acknowledged = true;
        wanted.stop_told = cloud.world.timers.now();
    }
    if (answer.status != 200 && known && wanted.start == Wish::acknowledged)
        cloud.found.report(Invariant::durable,
                           fmt::format("{} was acknowledged, and stopping it answers {}: {}", name,
                                       answer.status, answer.body));
    hear(tenant, "DELETE " + name, answer.body);
    co_return Result<>{};
}

// Stopped for now, started, restarted, kept: whatever its state allows.
Task<> Tenants::rest_one(Tenant& tenant, std::string name) {
    constexpr std::array<std::string_view, 4> verbs = {"stop", "start", "restart", "keep-alive?"};
    const std::string_view verb = verbs[tenant.dice.below(verbs.size())];
    const bool keeps = verb.ends_with('?');
    bool unsure = false;
    const auto answer = CO_TRY(co_await insist(
        cloud.keys.at(tenant.name), "POST",
        fmt::format("/v1/instances/{}/{}", name, verb.substr(0, verb.size() - (keeps ? 1 : 0))),
        keeps ? R"({"forSeconds":20})" : "", "", unsure));
    hear(tenant, "POST instance", answer.body);
    const WantedInstance& wanted = tenant.instances.at(name);
    if (answer.status != 200 && answer.status != 409 && wanted.start == Wish::acknowledged)
        cloud.found.report(Invariant::durable,
                           fmt::format("{} {} answers {}: {}", verb, name, answer.status, answer.body));
    co_return Result<>{};
}

Task<> Tenants::make_volume(Tenant& tenant) {
    const std::string name = fmt::format("{}-vol-{}", tenant.name, ++tenant.made);
    const std::string project = CO_TRY(co_await some_project(tenant));
    WantedVolume& wanted = tenant.volumes[name];
    wanted.project = project;
    bool unsure = false;
    const auto answer = CO_TRY(co_await insist(
        cloud.keys.at(tenant.name), "POST", "/v1/volumes",
        fmt::format(R"({{"name":"{}","size":"1Gi","project":"{}"}})", name, project), name, unsure));
    wanted.create = answer.status == 201 ? Wish::acknowledged : unsure ? Wish::asked : Wish::refused;
    wanted.told = cloud.world.timers.now();
    hear(tenant, "POST /v1/volumes", answer.body);
    co_return Result<>{};
}

// Asks for more, and then for what it has by now.
Task<> Tenants::grow_volume(Tenant& tenant, std::string name) {
    WantedVolume& wanted = tenant.volumes.at(name);
    bool unsure = false;
    const std::string key = cloud.keys.at(tenant.name), target = "/v1/volumes/" + name;
    const auto answer = CO_TRY(co_await insist(
        key, "PATCH", target, fmt::format(R"({{"size":"{}Gi"}})", wanted.asked_gib + 1), "", unsure));
    if (answer.status == 202) ++wanted.asked_gib;
    hear(tenant, "PATCH volume", answer.body);
    const auto shown = CO_TRY(co_await insist(key, "GET", target, "", "", unsure));
    if (shown.status != 200) co_return Result<>{};
    boost::system::error_code wrong;
    const auto json = boost::json::parse(shown.body, wrong);
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
    bool unsure = false;
    const auto answer =
        CO_TRY(co_await insist(cloud.keys.at(tenant.name), "DELETE", "/v1/volumes/" + name, "", "", unsure));
    if (answer.status == 409 && !unsure && !asked_before) wanted.delete_asked = false;  // It is in use.
    if (answer.status == 404 && !unsure && !asked_before && wanted.create == Wish::acknowledged)
        cloud.found.report(Invariant::durable,
                           fmt::format("volume {} was acknowledged, and nobody knows it", name));
    hear(tenant, "DELETE volume", answer.body);
    co_return Result<>{};
}

Task<> Tenants::look(Tenant& tenant) {
    static constexpr std::array<const char*, 7> targets = {
        "/v1/instances?all=true", "/v1/volumes",  "/v1/networks", "/v1/events",
        "/v1/operations",         "/v1/api-keys", "/v1/specs"};
    const std::string target = targets[tenant.dice.below(targets.size())];
    const Instant asked = cloud.world.timers.now();
    const auto answer = co_await cloud.call(cloud.keys.at(tenant.name), "GET", target);
    if (!answer) co_return over(answer.error());
    hear(tenant, "GET " + target, answer->body);
    if (target != targets[0] || answer->status != 200 || doubtful(asked, "GET", answer->status))
        co_return Result<>{};
    for (const auto& [name, wanted] : tenant.instances)
        if (wanted.start == Wish::acknowledged && answer->body.find('"' + name + '"') == std::string::npos)
            cloud.found.report(
                Invariant::durable,
                fmt::format("{} was acknowledged and is not in the list: {}", name, answer->body));
    co_return Result<>{};
}

// By its URL, through gateway, access point and tunnel.
Task<> Tenants::open(Tenant& tenant, std::string name) {
    const Instant looked = cloud.world.timers.now();
    const auto shown = co_await cloud.call(cloud.keys.at(tenant.name), "GET", "/v1/instances/" + name);
    if (!shown) co_return over(shown.error());
    if (shown->status != 200 || doubtful(looked, "GET", shown->status)) co_return Result<>{};
    hear(tenant, "GET instance", shown->body);
    boost::system::error_code wrong;
    const auto json = boost::json::parse(shown->body, wrong);
    if (wrong || json.at("urls").as_array().empty()) co_return Result<>{};
    const std::string id{json.at("id").as_string()};
    WantedInstance& wanted = tenant.instances.at(name);
    if (wanted.id.empty()) {
        wanted.id = id;
        wanted.shown = cloud.world.timers.now();
    }
    if (wanted.id != id)
        cloud.found.report(Invariant::durable, fmt::format("{} was {} and is {} now", name, wanted.id, id));
    const Instant asked = cloud.world.timers.now();
    http::Client client{cloud.world.net, cloud.world.timers, {.idle_max = 0}};
    http::Request request{.target = "/hello"};
    request.headers.set("Host", fmt::format("8080-{}.localhost", id));
    request.headers.set("Authorization", "Bearer " + cloud.keys.at(tenant.name));
    const auto page = co_await client.fetch({.address = "gw:8443"}, request,
                                            {.connect = 5s, .head = 10s, .idle = 5s, .total = 15s});
    if (!page) co_return over(page.error());
    hear(tenant, "open", page->body);
    if (page->status != 200) co_return Result<>{};
    if (page->body.find("hostler-" + id) == std::string::npos)
        cloud.found.report(Invariant::tenancy,
                           fmt::format("{} opened {} and was shown: {}", tenant.name, id, page->body));
    else
        ++tenant.opened, wanted.used = asked;
    co_return Result<>{};
}

// What belongs to somebody else: by name, by id, by volume, by URL.
Task<> Tenants::pry(Tenant& tenant) {
    std::vector<std::pair<std::string, std::string>> theirs;  // Name and tenant.
    for (const auto& [name, other] : all)
        if (name != tenant.name)
            for (const auto& [instance, wanted] : other.instances) theirs.emplace_back(instance, name);
    const auto term = cloud.term();
    if (theirs.empty() || !term) co_return Result<>{};
    const auto& [name, owner] = theirs[tenant.dice.below(theirs.size())];
    const Instance* instance = master::find_instance(term->look(), owner, name);
    if (!instance) co_return Result<>{};
    const std::string id = instance->id;
    const std::string key = cloud.keys.at(tenant.name);
    for (const std::string& target :
         {"/v1/instances/" + id, "/gpu-instances/" + name, "/v1/instances/" + id + "/logs",
          "/v1/instances/" + id + "/events", "/v1/instances/" + id + "/explain",
          "/v1/instances?all=true&tenantID=" + owner}) {
        const auto answer = co_await cloud.call(key, "GET", target);
        if (!answer) co_return over(answer.error());
        // To be told the name that one has asked for oneself is to be told nothing.
        if (answer->status < 300 && answer->body.find(id) != std::string::npos)
            cloud.found.report(Invariant::tenancy,
                               fmt::format("{} was given {} for {}", tenant.name, answer->body, target));
    }
    const auto stopped = co_await cloud.call(key, "DELETE", "/v1/instances/" + id);
    if (stopped && stopped->status < 300)
        cloud.found.report(Invariant::tenancy, fmt::format("{} could stop {}", tenant.name, id));
    http::Client client{cloud.world.net, cloud.world.timers, {.idle_max = 0}};
    http::Request request{.target = "/hello"};
    request.headers.set("Host", fmt::format("8080-{}.localhost", id));
    request.headers.set("Authorization", "Bearer " + key);
    const auto page = co_await client.fetch({.address = "gw:8443"}, request,
                                            {.connect = 5s, .head = 10s, .idle = 5s, .total = 15s});
    if (page && page->body.find("hostler-" + id) != std::string::npos)
        cloud.found.report(Invariant::tenancy, fmt::format("{} could open {} of {}", tenant.name, id, owner));
    co_return Result<>{};
}

// No answer names another tenant, or what is theirs: every name begins with its tenant's.
void Tenants::hear(const Tenant& tenant, const std::string& what, const std::string& body) {
    for (const auto& [name, other] : all)
        if (name != tenant.name && body.find(name) != std::string::npos)
            cloud.found.report(Invariant::tenancy,
                               fmt::format("{} was told of {} by {}: {}", tenant.name, name, what, body));
}

void Tenants::check(const master::Term& term) const {
    const auto& desk = term.look();
    for (const auto& [tenant_name, tenant] : all) {
        for (const auto& [name, wanted] : tenant.instances) {
            const Instance* instance = master::find_instance(desk, tenant_name, name);
            if (wanted.start == Wish::acknowledged && !instance &&
                !cloud.store_ledger.has_ended(tenant_name, name))
                cloud.found.report(Invariant::durable,
                                   fmt::format("instance {} was acknowledged and is gone", name));
            if (wanted.stop_acknowledged && instance && !is_final(instance->phase) &&
                instance->phase != InstancePhase::stopping)
                cloud.found.report(Invariant::durable, fmt::format("instance {} was stopped, and is {}", name,
                                                                   state_of(instance->phase)));
            if (wanted.start == Wish::refused && instance)
                cloud.found.report(Invariant::durable,
                                   fmt::format("instance {} was refused, and is there", name));
        }
        for (const auto& [name, wanted] : tenant.volumes) {
            if (wanted.create != Wish::acknowledged || wanted.delete_asked) continue;
            const bool there = std::ranges::any_of(desk.estate.volumes.all(), [&](const auto& row) {
                return row.second.name == name && row.second.size_bytes >= wanted.size_bytes();
            });
            if (!there)
                cloud.found.report(Invariant::durable,
                                   fmt::format("volume {} of {} bytes was acknowledged and is gone, or less",
                                               name, wanted.size_bytes()));
        }
    }
    const int slots = static_cast<int>(desk.estate.slots.all().size());
    if (slots < stock_acknowledged - stock_asked_min || slots > stock_acknowledged + stock_asked_max)
        cloud.found.report(Invariant::durable, fmt::format("{} slots are there, {} were acknowledged", slots,
                                                           stock_acknowledged));
}

void Tenants::check_idle(const master::Term& term) const {
    for (const auto& [tenant_name, tenant] : all) {
        for (const auto& [name, wanted] : tenant.instances) {
            const Instance* instance = master::find_instance(term.look(), tenant_name, name);
            if (!instance || has_place(instance->phase) || is_final(instance->phase)) continue;
            if (instance->reason != "unused" || wanted.used == Instant{}) continue;
            const auto unused = cloud.world.timers.now() - wanted.used;
            if (unused < std::chrono::seconds{wanted.unused_s})
                cloud.found.report(
                    Invariant::idle,
                    fmt::format("{} was opened {} ms ago and is stopped, for nobody has used it for {} s",
                                name, std::chrono::duration_cast<std::chrono::milliseconds>(unused).count(),
                                wanted.unused_s));
        }
    }
}

std::string Tenants::unsettled(const master::Term& term) const {
    for (const auto& [tenant_name, tenant] : all) {
        for (const auto& [name, wanted] : tenant.instances) {
            const Instance* instance = master::find_instance(term.look(), tenant_name, name);
            if (!instance || cloud.spared(Invariant::settled).contains(instance->id)) continue;
            if (wanted.unused_s > 0 && has_place(instance->phase))
                return fmt::format("nobody uses {}, and it is {}", name, state_of(instance->phase));
            if (wanted.stop_acknowledged && !is_final(instance->phase))
                return fmt::format("{} was stopped and is {}", name, state_of(instance->phase));
            if (is_final(instance->phase) && !wanted.stop_asked && instance->phase == InstancePhase::stopped)
                return fmt::format("{} is stopped, and nobody has asked for it: {}", name, instance->message);
        }
    }
    return {};
}

}  // namespace hostler::simulation
