// Who may pass: asks masters about credentials and keeps their answers.
#pragma once

#include "core/rate.h"
#include "ports/journal.h"
#include "roles/gateway/master_link.h"
#include "roles/gateway/settings.h"
#include "roles/gateway/stays.h"
#include "roles/gateway/trust.h"
#include "roles/gateway/verdicts.h"

namespace hostler::gateway {

enum class Admission {
    nobody,     // No credential, or none that anybody has.
    elsewhere,  // Somebody, but of another tenant.
    allowed,
    unavailable,  // It cannot be known now.
    too_many,     // This client asks about too many.
};

class Gatekeeper {
public:
    // The journal remembers sign-outs that no master has heard: "sign-out/<session>".
    Gatekeeper(const Ports& ports, const Settings& settings, MasterLink& master);

    // `client`: its address. Afterwards `question` has it if the credential is for some addresses alone.
    Task<Admission> admit(Question& question, std::string client);
    // As whom the credential lets in; after admit() allowed it. What a master said of it last counts.
    std::optional<Granted> granted(const Question& question) const {
        return trust_.granted(question, timers_.wall());
    }
    // Whether this client may have one more question put to a master: it counts among its credentials.
    bool may_ask(const std::string& client) { return questions_.take(client, timers_.now()); }
    // The value of a cookie for a one-time code. Errors: forbidden (used, too old, of another instance);
    // exhausted; unavailable, timeout.
    Task<std::string> redeem(std::string code, std::string route, std::string client);
    // From here on this session opens nothing here, and what it had opened is cut. true: nor anywhere else;
    // false: no master answers, and run() will tell one, also after a crash. Errors: exhausted (too many,
    // nothing was done), cancelled.
    Task<bool> sign_out(std::string session, std::string route, std::string client);
    Task<> run();  // Until cancelled.
    // These marks are over, and with them what stood on them.
    void end(const std::vector<std::string>& marks);
    Task<> remember() { return trust_.run(timers_); }  // Whom to believe, on disk. Until cancelled.
    // Asks each master that comes what has ended while none was there. Until cancelled.
    Task<> catch_up();
    // Whether a credential is believed while no master answers.
    Trust::Belief belief_in(const Question& question) const {
        return trust_.believes(question, timers_.wall());
    }
    std::size_t trusted() const { return trust_.size(); }
    // What is open by virtue of a credential; each holds a Stay.
    Stays& stays() { return stays_; }
    std::size_t open() const { return stays_.size(); }
    std::size_t verdicts() const { return verdicts_.size(); }
    std::size_t sign_outs() const { return leaving_.size(); }  // That no master knows of.
    // Asks masters again and again about all by which something is open, and cuts what is refused now. While
    // no master answers what is open stays, until its credential's own end or that of our trust. Until
    // cancelled.
    Task<> watch();

private:
    Task<> ask(Question question);
    Task<MasterLink::Word> word_on(Question question);
    std::optional<Admission> said(Question& question, const std::string& from);
    Admission believed(Question& question, const std::string& from) const;
    void keep(const Question& asked, MasterLink::Word word);
    Task<> tell_sign_out(std::string session, std::string route);

    Timers& timers_;
    const Settings& settings_;
    MasterLink& master_;
    Journal& journal_;
    Stays stays_;
    Verdicts verdicts_;
    Trust trust_;
    std::uint64_t ends_ = 0;  // How often something was over.
    Rates questions_;
    std::map<Question, std::shared_ptr<Signal>> asked_;  // Somebody waits for the answer.
    std::map<std::string, std::string> leaving_;  // Sessions signed out that no master knows of; routes.
    Signal leaving_changed_;
};

}  // namespace hostler::gateway
