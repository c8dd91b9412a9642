// Tenants who look at what is theirs, open it, and try what is not.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "http/client.h"
#include "roles/master/instance/lifecycle.h"
#include "tenants.h"

namespace hostler::simulation {

namespace {

// An answer that did not come ends what was tried, not the tenant.
Result<> over(const Error& error) {
    if (error.code == Code::cancelled) return std::unexpected(error);
    return {};
}

// The audit has what was asked before: calls that named another tenant, and were refused for it.
bool tells_of(const std::string& told, const std::string& name) {
    constexpr std::string_view refused = "not to ";
    for (std::size_t at = told.find(name); at != std::string::npos; at = told.find(name, at + 1))
        if (at < refused.size() || told.compare(at - refused.size(), refused.size(), refused) != 0)
            return true;
    return false;
}

Task<http::Response> page_of(Cloud& cloud, std::string id, std::string secret) {
    http::Client client{cloud.world.net, cloud.world.timers, {.idle_max = 0}};
    http::Request request{.target = "/hello"};
    request.headers.set("Host", fmt::format("8080-{}.localhost", id));
    request.headers.set("Authorization", "Bearer " + secret);
    co_return co_await client.fetch({.address = "gw:8443"}, std::move(request),
                                    {.connect = 5s, .head = 10s, .idle = 5s, .total = 15s});
}

}  // namespace

Task<> Tenants::look(Tenant& tenant) {
    static constexpr std::array<const char*, 15> targets = {
        "/v1/instances?all=true", "/v1/volumes", "/v1/networks",         "/v1/events", "/v1/operations",
        "/v1/api-keys",           "/v1/specs",   "/v1/audit?limit=100",  "/v1/users",  "/v1/grants",
        "/v1/projects",           "/v1/tenants", "/v1/service-accounts", "/v1/whoami", "/v1/secrets"};
    const std::string target = targets[tenant.dice.chance(0.4) ? 0 : tenant.dice.below(targets.size())];
    const auto callers = people.all(tenant.name);
    const Look then = people.look(callers[tenant.dice.below(callers.size())]);
    const auto answer = co_await once_as(then, "GET", target);
    if (!answer) co_return over(answer.error());
    if (target != targets[0] || answer->status != 200 || doubtful(then.asked, "GET", answer->status))
        co_return Result<>{};
    if (!people.good(then)) co_return Result<>{};
    for (const auto& [name, wanted] : tenant.instances)
        if (wanted.start == Wish::acknowledged && answer->body.find('"' + name + '"') == std::string::npos &&
            (then.by->project.empty() || then.by->project == wanted.project))
            cloud.found.report(
                Invariant::durable,
                fmt::format("{} was acknowledged and is not in the list: {}", name, answer->body));
    co_return Result<>{};
}

// By its URL, through gateway, access point and tunnel.
Task<> Tenants::open(Tenant& tenant, std::string name) {
    const CredentialPtr by = some(tenant, tenant.instances.at(name).project);
    const Look looked = people.look(some(tenant, tenant.instances.at(name).project));
    const auto shown = co_await once_as(looked, "GET", "/v1/instances/" + name);
    if (!shown) co_return over(shown.error());
    if (shown->status != 200 || doubtful(looked.asked, "GET", shown->status)) co_return Result<>{};
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
    const Look then = people.look(by, people.project(tenant.name, wanted.project));
    const auto page = co_await page_of(cloud, id, by->secret);
    if (!page) co_return over(page.error());
    hear(then, "open " + id, page->body);
    people.judge_open(then, id, page->status == 200);
    if (page->status != 200) co_return Result<>{};
    if (page->body.find("hostler-" + id) == std::string::npos)
        cloud.found.report(Invariant::tenancy,
                           fmt::format("{} opened {} and was shown: {}", tenant.name, id, page->body));
    else
        ++tenant.opened, wanted.used = then.asked;
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
    const std::string key = some(tenant, "lab")->secret;
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
    const auto page = co_await page_of(cloud, id, key);
    if (page && page->body.find("hostler-" + id) != std::string::npos)
        cloud.found.report(Invariant::tenancy, fmt::format("{} could open {} of {}", tenant.name, id, owner));
    co_return Result<>{};
}

// What lies in a project that its caller has no role in.
Task<> Tenants::pry_by_project(Tenant& tenant) {
    std::vector<std::pair<std::string, std::string>> others;  // Name and id.
    const auto term = cloud.term();
    for (const auto& [name, wanted] : tenant.instances)
        if (const Instance* there = term ? master::find_instance(term->look(), tenant.name, name) : nullptr;
            there && there->project != "lab")
            others.emplace_back(name, there->id);
    CredentialPtr by;
    for (const CredentialPtr& one : people.all(tenant.name))
        if (one->project == "lab") by = one;
    if (others.empty() || !by) co_return Result<>{};
    const auto [name, id] = others[tenant.dice.below(others.size())];
    for (const std::string& target : {"/v1/instances/" + name, "/v1/instances/" + id + "/events",
                                      "/v1/instances/" + id + "/explain", "/gpu-instances/" + name}) {
        const auto answer = co_await once_as(people.look(by), "GET", target);
        if (!answer) co_return over(answer.error());
        if (answer->status < 300)
            cloud.found.report(Invariant::tenancy,
                               fmt::format("{} was given {} for {}", by->name, answer->body, target));
    }
    const auto stopped = co_await once_as(people.look(by), "POST", "/v1/instances/" + name + "/stop");
    if (stopped && stopped->status < 300)
        cloud.found.report(Invariant::tenancy, fmt::format("{} could stop {}", by->name, name));
    const auto page = co_await page_of(cloud, id, by->secret);
    if (page && page->body.find("hostler-" + id) != std::string::npos)
        cloud.found.report(Invariant::tenancy, fmt::format("{} could open {}", by->name, id));
    co_return Result<>{};
}

// Lists of another tenant. Its name may come back, and nothing else.
Task<> Tenants::pry_in_lists(Tenant& tenant) {
    static constexpr std::array<const char*, 10> lists = {
        "/v1/instances", "/v1/volumes", "/v1/networks",         "/v1/events",   "/v1/audit",
        "/v1/users",     "/v1/grants",  "/v1/service-accounts", "/v1/api-keys", "/v1/projects"};
    for (const auto& [owner, other] : all) {
        if (owner == tenant.name) continue;
        const std::string target =
            fmt::format("{}?tenantID={}", lists[tenant.dice.below(lists.size())], owner);
        const auto answer = co_await once_as(people.look(some(tenant, "lab")), "GET", target);
        if (!answer) co_return over(answer.error());
    }
    co_return Result<>{};
}

// No answer names another tenant, or what is theirs: every name begins with its tenant's.
void Tenants::hear(const Look& then, const std::string& asked, const std::string& told) {
    for (const auto& [name, other] : all)
        if (name != then.by->tenant && tells_of(told, name) && !asked.contains(name))
            cloud.found.report(Invariant::tenancy,
                               fmt::format("{} was told of {} by {}: {}", then.by->name, name, asked, told));
    const bool nothing = then.empty && !then.place && people.empty(then) &&
                         !cloud.rewound_since(then.asked) && !cloud.may_be_old(then.asked);
    const std::string foreign = people.belongings.foreign_in(
        told, {.tenant = then.by->tenant, .project = then.by->project, .nothing = nothing}, asked);
    if (!foreign.empty())
        cloud.found.report(Invariant::tenancy,
                           fmt::format("{} was told of {} by {}: {}", then.by->name, foreign, asked, told));
}

}  // namespace hostler::simulation
