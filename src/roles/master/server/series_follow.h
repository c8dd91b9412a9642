// A master that does not lead follows the series of the one that does, so that they are there when it leads.
#pragma once

#include "http/client.h"
#include "http/server.h"
#include "ports/series_mirror.h"
#include "roles/master/http/api.h"

namespace hostler::master {

class SeriesFollow {
public:
    SeriesFollow(const Ports& ports, Lead& lead);

    Task<> run();  // Until it is cancelled. Without a mirror among its ports it does nothing.
    // What another master asks; whether this one leads or not. Errors: the client's, unavailable (too many
    // ask).
    Task<> answer(http::Exchange& exchange);
    static constexpr std::string_view path = "/masters/series";

    // How long ago it had all that its leader had; 0 while it leads, or knows of no leader.
    Duration lag() const;
    struct Count {
        std::uint64_t rows = 0;              // Taken; some come twice.
        std::uint64_t segments_skipped = 0;  // That the leader had down-sampled before they were asked for.
        std::uint64_t failures = 0;          // Pieces that did not come, or could not be stored.
    };
    const Count& count() const { return count_; }

    static constexpr std::chrono::seconds look{
        3};  // Between two questions, when nothing is left to be asked;
    static constexpr std::chrono::milliseconds rest{100};  // and when there is: 10 MiB a second at most.
    static constexpr std::size_t answers_max = 2;          // Being made at once.

private:
    Task<Mirrored> one_piece(Contender leader);

    const Ports& ports_;
    Lead& lead_;
    http::Client client_;
    std::size_t answering_ = 0;
    std::optional<Instant> had_all_;  // Since it has followed.
    Count count_;
};

}  // namespace hostler::master
