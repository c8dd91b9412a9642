// People and programs of tenants, by what they act, and what is taken from them: who may act is known from
// what was answered, and nobody acts after the end.
#pragma once

#include "belongings.h"
#include "cloud.h"

namespace hostler::simulation {

// Something that credentials stand on, and what is known of it.
class Switch {
public:
    // Somebody asks to turn it, and is not answered yet.
    void asked() { state_ = State::unknown, ++turns_; }
    // `unsure`: an earlier try may still be done, after later ones.
    void told(bool on, bool unsure, Instant now);
    void forget(Instant since);  // What was told from then on.
    bool is_on(Instant now) const { return state_ == State::on && now >= off_may_come_until_; }
    bool is_off(Instant now) const { return state_ == State::off && now >= on_may_come_until_; }
    Instant since() const { return std::max(told_, on_may_come_until_); }  // Of one that is off.
    std::uint64_t turns() const { return turns_; }

private:
    enum class State { unknown, on, off };
    static constexpr Duration lost_calls_live = 4min;
    State state_ = State::unknown;
    Instant told_ = Instant::min(), on_may_come_until_ = Instant::min(), off_may_come_until_ = Instant::min();
    std::uint64_t turns_ = 0;
};
using SwitchPtr = std::shared_ptr<Switch>;

struct Credential {
    std::string name;                            // "bob of red-team": for the story.
    std::string tenant, project, secret, actor;  // `project`: the only one that it is for; empty: all.
    std::vector<SwitchPtr> stands_on;            // While one of these is off nobody has it,
    std::vector<SwitchPtr> holds_by;             // and while one of these is, it may do nothing.
};
using CredentialPtr = std::shared_ptr<const Credential>;

// What was known of a credential at one moment.
struct Look {
    CredentialPtr by;
    Instant asked{};
    bool good = false;             // It was surely worth something.
    std::optional<Instant> ended;  // Since when nobody has it,
    std::optional<Instant> empty;  // and since when it may do nothing.
    std::uint64_t turns = 0;
    SwitchPtr place{};  // While it is off nothing is made or opened there; null: nothing is.
};

class People {
public:
    // Asks until it is answered for good; `unsure`: an earlier try may have been done.
    using Ask = std::function<Task<http::Response>(std::string key, std::string method, std::string target,
                                                   std::string body, bool& unsure)>;
    People(Cloud& cloud, const std::vector<std::string>& tenants, Ask ask);

    // Users, a service account and their credentials, in the project "lab" and the whole tenant.
    Task<> settle_in(std::string tenant);
    // Takes away and gives back, until calm() was called: then everything has come back.
    Task<> trouble(std::string tenant);
    void calm() { calm_ = true; }

    // One that reaches the project; `dice` says whose.
    CredentialPtr some(const std::string& tenant, const std::string& project, sim::Dice& dice) const;
    std::vector<CredentialPtr> all(const std::string& tenant) const;
    SwitchPtr project(const std::string& tenant, const std::string& name) const;
    SwitchPtr tenant(const std::string& name) const { return homes_.at(name).tenant.is; }

    Look look(CredentialPtr by, SwitchPtr place = nullptr) const;
    bool still(const Look& then) const;  // Nothing is known otherwise than then.
    bool good(const Look& then) const { return then.good && still(then); }
    bool ended(const Look& then) const { return then.ended && still(then); }
    bool empty(const Look& then) const { return then.empty && still(then); }
    // An answer to whoever had it.
    void judge(const Look& then, const std::string& what, int status, const std::string& body);
    // What was opened through the gateway at that look.
    void judge_open(const Look& then, const std::string& what, bool opened);
    // How long an end may take to reach what is open.
    Duration bound() const;
    // Since when every master, and the gateway too, could hear of every end.
    Instant masters_in_touch() const { return masters_in_touch_; }
    Instant gateway_in_touch() const { return std::max(masters_in_touch_, gateway_in_touch_); }

    int taken = 0;     // Switches that were turned off,
    int refused = 0;   // calls refused by credentials that had ended,
    int calls_by = 0;  // and calls of people and programs.
    Belongings belongings;

private:
    struct Thing {
        SwitchPtr is = std::make_shared<Switch>();
        std::string target{}, body{};
    };
    struct Person {
        std::string login{}, id{}, role{}, project{};
        Thing user{};
        SwitchPtr grant = std::make_shared<Switch>();
        std::shared_ptr<Credential> session{};
        SwitchPtr session_is{};
    };
    struct Home {
        std::string name{};
        sim::Dice dice{0};
        Thing tenant{}, lab{}, account{}, account_key{}, tenant_key{};
        SwitchPtr account_grant = std::make_shared<Switch>();
        std::vector<Person> people{};  // The first manages the others and stays.
        std::shared_ptr<Credential> program{}, key{};
    };

    Task<> invite(Home& home, Person& person);
    Task<> make_program(Home& home);
    Task<> sign_in(Home& home, Person& person);
    Task<> try_to_sign_in(Home& home, Person& person);
    Task<bool> turn(Thing& thing, bool on);
    Task<> off_and_on(Home& home, Thing& thing);
    Task<> take_grants(Home& home, std::string subject, SwitchPtr is);
    Task<> give_grant(Home& home, std::string subject, std::string role, std::string project, SwitchPtr is);
    Task<> end_session(Home& home, Person& person);
    Task<> trouble_once(Home& home);
    Task<> put_right(Home& home);
    Task<> pause(Home& home, Duration max);
    void name(const Credential& credential) { cloud_.callers[credential.secret] = credential.name; }
    void look_at_touch();
    void forget(const Rewind& lost);
    std::string objection(const Changes& changes);

    Cloud& cloud_;
    Ask ask_;
    std::map<std::string, Home> homes_;
    std::map<std::string, std::vector<SwitchPtr>> actors_;  // As the audit names them.
    std::vector<SwitchPtr> switches_;                       // All there ever were.
    Instant masters_in_touch_{}, gateway_in_touch_{};
    std::uint64_t epoch_ = 0;
    bool slow_network_ = false;
    bool calm_ = false;
};

}  // namespace hostler::simulation
