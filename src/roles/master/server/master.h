// The master: registers, decides, commands. One leads at a time and the others follow it; a term that fails
// is followed by another.
#pragma once

#include <string>

#include "http/server.h"
#include "roles/master/leader/term.h"
#include "roles/master/series/care.h"
#include "roles/master/server/front.h"
#include "roles/master/server/standby.h"
#include "roles/master/state/ports.h"
#include "roles/master/state/settings.h"

namespace hostler::master {

class Master {
public:
    Master(Settings settings, Ports ports);

    // Serves until it is cancelled. Errors: invalid (a setting); those of listening.
    Task<> run();

    // Ends watches, which go on elsewhere, takes nobody new, and returns when the requests under way have
    // ended, or after `patience`. run() goes on: cancel it then. Errors: cancelled.
    Task<> leave(Duration patience);
    // Waits until it listens and leads, or follows who does, for the first time. Errors: cancelled.
    Task<> ready();
    std::string api_address() const { return api_address_; }
    std::string wire_address() const { return wire_address_; }
    const Lead& lead() const { return lead_; }  // For the simulation's checkers.
    void write_metrics(MetricsPage& page) const;
    // What the GPUs and hosts of a zone do; empty: of all. Errors: unavailable (it does not lead), exhausted.
    Result<> write_gpu_metrics(MetricsPage& page, const std::string& zone) const;

private:
    void write_series_metrics(MetricsPage& page) const;
    Task<> accept_links(ListenerPtr listener);
    Task<> secure_link(StreamPtr raw);
    Task<> renew_own();
    bool renewal_due() const;
    Contender self() const;
    void tell(TermPtr term, std::optional<Contender> other);
    void expect(bool soon);  // That somebody leads.
    Task<> serve_follower(StreamPtr stream);
    Task<> refuse_link(StreamPtr stream);
    static constexpr std::size_t links_max = 1024;
    Task<> lead_terms(AddressPool pool);
    Task<> prepare_to_lead();
    Task<> one_term(AddressPool pool, std::uint64_t above);
    Task<> hold_until_lost(std::shared_ptr<Tenure> tenure);
    Task<> serve_term(AddressPool pool, std::uint64_t epoch, std::shared_ptr<const Tenure> tenure);
    Task<> follow();
    Task<> watch_leader();
    Task<> resign();
    Task<> wait_for_room(TermPtr term, std::uint64_t number);
    static void tell_of_unreadable(Desk& desk);
    Result<> first_start(Term& term);

    Settings settings_;
    Ports ports_;
    Lead lead_;
    Front front_;
    http::Server server_;
    SeriesCare series_care_;
    Standby standby_;
    std::size_t links_ = 0;      // Whose handshake goes on.
    std::size_t followers_ = 0;  // Connections on which they pass on what they are asked.
    std::string api_address_;
    std::string wire_address_;
    std::uint64_t outranked_by_ = 0;
    std::optional<Error> full_;  // Why the last term ended, when it was the store's disk.
    bool listening_ = false;
    bool led_ = false;
    Signal changed_;  // listening_ or led_.
};

}  // namespace hostler::master
