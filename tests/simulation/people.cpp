#include "people.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "programs.h"
#include "roles/master/sign_in/indexes.h"

namespace hostler::simulation {

namespace {

constexpr const char* password = "correct horse";

std::string text_at(const std::string& body, const char* name) {
    boost::system::error_code wrong;
    const auto json = boost::json::parse(body, wrong);
    if (wrong || !json.is_object()) return {};
    const auto* value = json.as_object().if_contains(name);
    return value && value->is_string() ? std::string{value->as_string()} : "";
}

}  // namespace

void Switch::told(bool on, bool unsure, Instant now) {
    state_ = on ? State::on : State::off;
    told_ = now;
    ++turns_;
    if (unsure) (on ? on_may_come_until_ : off_may_come_until_) = now + lost_calls_live;
}

void Switch::forget(Instant since) {
    if (told_ >= since) asked();
}

People::People(Cloud& cloud, const std::vector<std::string>& tenants, Ask ask)
    : belongings(cloud), cloud_(cloud), ask_(std::move(ask)) {
    const auto target = [this](Thing& thing, std::string at, std::string body = {}) {
        thing.target = std::move(at);
        thing.body = std::move(body);
        switches_.push_back(thing.is);
    };
    for (const std::string& name : tenants) {
        Home& home = homes_[name];
        home.name = name;
        home.dice = cloud.dice.fork("people of " + name);
        target(home.tenant, "/v1/tenants/" + name);
        target(home.lab, "/v1/projects/lab", fmt::format(R"({{"tenantID":"{}"}})", name));
        home.people.push_back({.login = "ann@" + name, .role = "tenant-admin"});
        home.people.push_back({.login = "bob@" + name, .role = "member"});
        home.people.push_back({.login = "cid@" + name, .role = "member", .project = "lab"});
    }
    cloud.on_rewind.push_back([this](const Rewind& lost) { forget(lost); });
    cloud.on_each_step.push_back([this] { look_at_touch(); });
    cloud.store_ledger.object_to = [this](const Changes& changes) { return objection(changes); };
}

void People::forget(const Rewind& lost) {
    for (const SwitchPtr& one : switches_) one->forget(lost.since);
}

// ── Making them

Task<> People::settle_in(std::string tenant) {
    Home& home = homes_.at(tenant);
    const std::string root{Cloud::operator_key};
    bool unsure = false;
    const auto lab = CO_TRY(co_await ask_(
        root, "POST", "/v1/projects", fmt::format(R"({{"name":"lab","tenantID":"{}"}})", tenant), unsure));
    const Instant now = cloud_.world.timers.now();
    home.tenant.is->told(true, false, now);
    if (lab.status == 201 || lab.status == 409) home.lab.is->told(true, false, now);
    if (const auto term = cloud_.term())
        for (const ApiKey* key :
             term->look().estate.api_keys.by().hash.of(cloud_.hash(cloud_.keys.at(tenant)))) {
            home.tenant_key.target = "/v1/api-keys/" + key->id;
            home.tenant_key.is->told(true, false, now);
            switches_.push_back(home.tenant_key.is);
            actors_["key/" + key->id] = {home.tenant.is, home.tenant_key.is};
        }
    home.key = std::make_shared<Credential>(
        Credential{.name = tenant, .tenant = tenant, .secret = cloud_.keys.at(tenant)});
    home.key->stands_on = {home.tenant.is, home.tenant_key.is};
    for (Person& person : home.people) {
        CO_TRY(co_await invite(home, person));
        CO_TRY(co_await sign_in(home, person));
    }
    co_return co_await make_program(home);
}

// By the operator, who gives the role with the invitation.
Task<> People::invite(Home& home, Person& person) {
    const std::string at = person.project.empty() ? "" : fmt::format(R"(,"project":"{}")", person.project);
    bool unsure = false;
    const auto invited = CO_TRY(co_await ask_(std::string{Cloud::operator_key}, "POST", "/v1/invitations",
                                              fmt::format(R"({{"role":"{}","tenantID":"{}","login":"{}"{}}})",
                                                          person.role, home.name, person.login, at),
                                              unsure));
    const auto accepted = CO_TRY(co_await ask_(
        "", "POST", "/v1/invitations/accept",
        fmt::format(R"({{"secret":"{}","password":"{}"}})", text_at(invited.body, "secret"), password),
        unsure));
    person.id = text_at(accepted.body, "userID");
    if (person.id.empty()) co_return Result<>{};
    const Instant now = cloud_.world.timers.now();
    person.user.target = "/v1/users/" + person.id;
    person.user.is->told(true, false, now);
    person.grant->told(true, false, now);
    switches_.insert(switches_.end(), {person.user.is, person.grant});
    actors_["user/" + person.id] = {home.tenant.is, person.user.is};
    co_return Result<>{};
}

Task<> People::make_program(Home& home) {
    const std::string root{Cloud::operator_key};
    bool unsure = false;
    const auto made =
        CO_TRY(co_await ask_(root, "POST", "/v1/service-accounts",
                             fmt::format(R"({{"name":"ci","tenantID":"{}"}})", home.name), unsure));
    const std::string id = text_at(made.body, "id");
    if (id.empty()) co_return Result<>{};
    home.account.target = "/v1/service-accounts/" + id;
    CO_TRY(co_await give_grant(home, "account/" + id, "member", "", home.account_grant));
    const auto key =
        CO_TRY(co_await ask_(root, "POST", home.account.target + "/keys", R"({"name":"deploy"})", unsure));
    if (key.status != 201) co_return Result<>{};
    const Instant now = cloud_.world.timers.now();
    home.account_key.target = "/v1/api-keys/" + text_at(key.body, "id");
    home.account.is->told(true, false, now);
    home.account_key.is->told(true, false, now);
    switches_.insert(switches_.end(), {home.account.is, home.account_key.is, home.account_grant});
    actors_["account/" + id] = {home.tenant.is, home.account.is, home.account_key.is};
    home.program = std::make_shared<Credential>(Credential{.name = "ci of " + home.name,
                                                           .tenant = home.name,
                                                           .secret = text_at(key.body, "secret"),
                                                           .actor = "account/" + id});
    home.program->stands_on = actors_["account/" + id];
    home.program->holds_by = {home.account_grant};
    name(*home.program);
    co_return Result<>{};
}

Task<> People::sign_in(Home& home, Person& person) {
    if (person.id.empty()) co_return Result<>{};
    const SwitchPtr is = std::make_shared<Switch>();
    const std::uint64_t turns = person.user.is->turns();
    bool unsure = false;
    const auto answer = CO_TRY(
        co_await ask_("", "POST", "/v1/sign-in",
                      fmt::format(R"({{"login":"{}","password":"{}"}})", person.login, password), unsure));
    const std::string secret = text_at(answer.body, "secret");
    if (answer.status != 200 || secret.empty()) co_return Result<>{};
    if (turns == person.user.is->turns()) is->told(true, false, cloud_.world.timers.now());
    switches_.push_back(is);
    person.session_is = is;
    person.session = std::make_shared<Credential>(
        Credential{.name = person.login, .tenant = home.name, .project = person.project, .secret = secret});
    person.session->actor = "user/" + person.id;
    person.session->stands_on = {home.tenant.is, person.user.is, is};
    person.session->holds_by = {person.grant};
    if (!person.project.empty()) person.session->holds_by.push_back(home.lab.is);
    name(*person.session);
    co_return Result<>{};
}

// ── Who may act

CredentialPtr People::some(const std::string& tenant, const std::string& project, sim::Dice& dice) const {
    std::vector<CredentialPtr> reaching;
    for (const CredentialPtr& one : all(tenant))
        if (one->project.empty() || one->project == project) reaching.push_back(one);
    return reaching[dice.below(reaching.size())];
}

std::vector<CredentialPtr> People::all(const std::string& tenant) const {
    const Home& home = homes_.at(tenant);
    std::vector<CredentialPtr> all = {home.key};
    for (const Person& person : home.people)
        if (person.session) all.push_back(person.session);
    if (home.program) all.push_back(home.program);
    return all;
}

SwitchPtr People::project(const std::string& tenant, const std::string& name) const {
    return name == "lab" ? homes_.at(tenant).lab.is : homes_.at(tenant).tenant.is;
}

Look People::look(CredentialPtr by, SwitchPtr place) const {
    const Instant now = cloud_.world.timers.now();
    Look look{.by = by, .asked = now, .good = true};
    const auto at = [&](const std::vector<SwitchPtr>& switches, std::optional<Instant>& since) {
        for (const SwitchPtr& one : switches) {
            look.turns += one->turns();
            look.good = look.good && one->is_on(now);
            if (one->is_off(now)) since = since ? std::min(*since, one->since()) : one->since();
        }
    };
    at(by->stands_on, look.ended);
    at(by->holds_by, look.empty);
    if (place) at({place}, look.empty);
    look.place = std::move(place);
    return look;
}

bool People::still(const Look& then) const { return look(then.by, then.place).turns == then.turns; }

void People::judge(const Look& then, const std::string& what, int status, const std::string& body) {
    ++calls_by;
    if (cloud_.rewound_since(then.asked) || cloud_.may_be_old(then.asked)) return;
    if (ended(then) && status >= 400) ++refused;
    if (ended(then) && status < 400)
        cloud_.found.report(Invariant::ended,
                            fmt::format("{} has ended, and {} answers {}", then.by->name, what, status));
    if (!ended(then) && empty(then) && status < 400 && !what.starts_with("GET "))
        cloud_.found.report(Invariant::ended, fmt::format("{} may do nothing there, and {} answers {}: {}",
                                                          then.by->name, what, status, body));
    if (good(then) && status == 401)
        cloud_.found.report(Invariant::ended, fmt::format("{} has not ended, and {} answers {}: {}",
                                                          then.by->name, what, status, body));
}

void People::judge_open(const Look& then, const std::string& what, bool opened) {
    const auto since = ended(then) ? then.ended : empty(then) ? then.empty : std::nullopt;
    if (!since || cloud_.rewound_since(then.asked) || cloud_.may_be_old(then.asked)) return;
    if (std::max(*since, gateway_in_touch()) + bound() > then.asked) return;
    if (opened)
        cloud_.found.report(Invariant::ended, fmt::format("{} has ended, and opens {}", then.by->name, what));
    else
        ++refused;
}

Duration People::bound() const {
    constexpr Duration promised = 5s;
    return slow_network_ ? promised + 3 * cloud_.world.network.faults.delay_max : promised;
}

void People::look_at_touch() {
    const Instant now = cloud_.world.timers.now();
    slow_network_ |= cloud_.world.network.faults.delay > 0;
    const auto term = cloud_.term();
    bool whole = term && term->epoch() == epoch_;
    epoch_ = term ? term->epoch() : 0;
    const auto reach = [&](const std::string& one, const std::string& other) {
        return cloud_.world.network.reaches(one, other) && cloud_.world.network.reaches(other, one);
    };
    for (const std::string& one : cloud_.masters) {
        whole = whole && cloud_.world.machine(one).awake();
        for (const std::string& other : cloud_.masters) whole = whole && reach(one, other);
    }
    if (!whole) masters_in_touch_ = now;
    Machine& gateway = cloud_.world.machine("gw");
    const Machine* leader = cloud_.leader();
    const bool linked = leader && reach("gw", leader->name) && cloud_.gateway_follows(epoch_);
    if (!gateway.awake() || !linked) gateway_in_touch_ = now;
}

// Of what is to be written. A master that acts on what it heard before the end has as long as what is open.
std::string People::objection(const Changes& changes) {
    const Instant now = cloud_.world.timers.now();
    for (const AuditLine& line : changes.audit) {
        if (line.result != "ok" && !line.result.empty()) continue;
        const auto stands = actors_.find(line.actor);
        if (stands == actors_.end()) continue;
        for (const SwitchPtr& one : stands->second)
            if (one->is_off(now) && one->since() + bound() <= now)
                return fmt::format("{} has ended, and the audit says that it did {} to {}", line.actor,
                                   line.operation, line.subject);
    }
    return {};
}

}  // namespace hostler::simulation
