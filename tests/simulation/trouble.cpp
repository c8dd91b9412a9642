// What is taken from people and given back.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "people.h"
#include "roles/master/sign_in/indexes.h"

namespace hostler::simulation {

Task<> People::pause(Home& home, Duration max) {
    co_return co_await sleep(
        cloud_.world.timers,
        Duration{static_cast<std::int64_t>(home.dice.below(static_cast<std::uint64_t>(max.count())))});
}

Task<> People::trouble(std::string tenant) {
    Home& home = homes_.at(tenant);
    while (!calm_) {
        CO_TRY(co_await pause(home, 12s));
        if (!calm_) CO_TRY(co_await trouble_once(home));
        for (Person& person : home.people)
            if (!person.session_is || !person.session_is->is_on(cloud_.world.timers.now()))
                CO_TRY(co_await sign_in(home, person));
    }
    co_return co_await put_right(home);
}

Task<> People::trouble_once(Home& home) {
    Person& person = home.people[1 + home.dice.below(home.people.size() - 1)];
    switch (home.dice.below(10)) {
        case 0:
        case 1:
        case 2:
            if (!person.id.empty()) CO_TRY(co_await off_and_on(home, person.user));
            break;
        case 3:
        case 4: CO_TRY(co_await end_session(home, home.people[home.dice.below(home.people.size())])); break;
        case 5:
            if (person.id.empty()) break;
            CO_TRY(co_await take_grants(home, "user/" + person.id, person.grant));
            CO_TRY(co_await pause(home, 12s));
            CO_TRY(co_await give_grant(home, "user/" + person.id, person.role, person.project, person.grant));
            break;
        case 6:
            if (home.program) CO_TRY(co_await off_and_on(home, home.account));
            break;
        case 7:
            CO_TRY(co_await off_and_on(home, home.dice.chance(0.5) ? home.tenant_key : home.account_key));
            break;
        case 8: CO_TRY(co_await off_and_on(home, home.lab)); break;
        case 9: CO_TRY(co_await off_and_on(home, home.tenant)); break;
    }
    co_return Result<>{};
}

// true: it is acknowledged.
Task<bool> People::turn(Thing& thing, bool on) {
    thing.is->asked();
    bool unsure = false;
    const auto answer =
        CO_TRY(co_await ask_(std::string{Cloud::operator_key}, "POST",
                             thing.target + (on ? "/enable" : "/disable"), thing.body, unsure));
    if (answer.status != 200) co_return false;
    thing.is->told(on, unsure, cloud_.world.timers.now());
    if (!on) ++taken;
    co_return true;
}

Task<> People::off_and_on(Home& home, Thing& thing) {
    if (thing.target.empty()) co_return Result<>{};
    std::vector<SwitchPtr> sessions;  // They end with their user, for good.
    for (Person& person : home.people)
        if (&person.user == &thing && person.session_is) sessions.push_back(person.session_is);
    for (const SwitchPtr& one : sessions) one->asked();
    if (CO_TRY(co_await turn(thing, false)))
        for (const SwitchPtr& one : sessions) one->told(false, false, cloud_.world.timers.now());
    CO_TRY(co_await pause(home, 5s));
    for (Person& person : home.people)
        if ((&person.user == &thing || &home.tenant == &thing) && home.dice.chance(0.5))
            CO_TRY(co_await try_to_sign_in(home, person));
    CO_TRY(co_await pause(home, 10s));
    (void)CO_TRY(co_await turn(thing, true));
    co_return Result<>{};
}

// Whoever was disabled, or belongs to a tenant that is.
Task<> People::try_to_sign_in(Home& home, Person& person) {
    const Instant asked = cloud_.world.timers.now();
    const auto turns = [&] { return person.user.is->turns() + home.tenant.is->turns(); };
    const bool ended = person.user.is->is_off(asked) || home.tenant.is->is_off(asked);
    const std::uint64_t before = turns();
    if (person.id.empty()) co_return Result<>{};
    const auto answer =
        co_await cloud_.call("", "POST", "/v1/sign-in",
                             fmt::format(R"({{"login":"{}","password":"correct horse"}})", person.login));
    CO_TRY(co_await check_cancelled());
    if (!answer || !ended || before != turns()) co_return Result<>{};
    if (cloud_.rewound_since(asked) || cloud_.may_be_old(asked)) co_return Result<>{};
    if (answer->status < 300)
        cloud_.found.report(Invariant::ended, fmt::format("{} has ended, and signs in", person.login));
    else
        ++refused;
    co_return Result<>{};
}

Task<> People::end_session(Home& home, Person& person) {
    if (!person.session) co_return Result<>{};
    const SwitchPtr is = person.session_is;
    const std::string id = master::session_id(Login{.hash = cloud_.hash(person.session->secret)});
    // The person, or who manages people. An answer to a person whose session ended with the call may be lost.
    const bool own = home.dice.chance(0.3);
    is->asked();
    bool unsure = false;
    const auto answer = CO_TRY(co_await ask_(own ? person.session->secret : std::string{Cloud::operator_key},
                                             "DELETE", "/v1/sessions/" + id, "", unsure));
    if (answer.status < 300 || (unsure && !own && answer.status == 404)) {
        is->told(false, false, cloud_.world.timers.now());
        ++taken;
    }
    co_return co_await pause(home, 6s);
}

Task<> People::take_grants(Home& home, std::string subject, SwitchPtr is) {
    const std::string root{Cloud::operator_key};
    is->asked();
    bool unsure = false;
    const auto list = CO_TRY(co_await ask_(
        root, "GET", fmt::format("/v1/grants?tenantID={}&subject={}", home.name, subject), "", unsure));
    boost::system::error_code wrong;
    const auto json = boost::json::parse(list.body, wrong);
    if (list.status != 200 || wrong) co_return Result<>{};
    bool all = true;
    for (const auto& item : json.at("items").as_array()) {
        unsure = false;
        const auto gone = CO_TRY(co_await ask_(
            root, "DELETE", "/v1/grants/" + std::string{item.at("id").as_string()}, "", unsure));
        all = all && (gone.status < 300 || (unsure && gone.status == 404));
    }
    if (all) is->told(false, false, cloud_.world.timers.now()), ++taken;
    co_return Result<>{};
}

Task<> People::give_grant(Home& home, std::string subject, std::string role, std::string project,
                          SwitchPtr is) {
    const std::string at = project.empty() ? "" : fmt::format(R"(,"project":"{}")", project);
    is->asked();
    bool unsure = false;
    const auto given = CO_TRY(co_await ask_(
        std::string{Cloud::operator_key}, "POST", "/v1/grants",
        fmt::format(R"({{"subject":"{}","role":"{}","tenantID":"{}"{}}})", subject, role, home.name, at),
        unsure));
    if (given.status == 201 || given.status == 200) is->told(true, unsure, cloud_.world.timers.now());
    co_return Result<>{};
}

// In the calm everybody may act again.
Task<> People::put_right(Home& home) {
    std::vector<Thing*> all = {&home.tenant, &home.lab, &home.account, &home.account_key, &home.tenant_key};
    for (Person& person : home.people) all.push_back(&person.user);
    for (Thing* thing : all)
        if (!thing->target.empty() && !thing->is->is_on(cloud_.world.timers.now()))
            (void)CO_TRY(co_await turn(*thing, true));
    co_return Result<>{};
}

}  // namespace hostler::simulation
