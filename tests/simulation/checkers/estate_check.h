// What must hold of the estate and of what runs, at every moment.
#pragma once

#include "adapters/sim/world.h"
#include "findings.h"
#include "roles/master/leader/term.h"

namespace hostler::simulation {

void check_claims(const master::Desk& desk, Findings& found);
// No subnet has instances of two projects; every instance's claim and subnet are of its project.
void check_networks(const master::Desk& desk, Findings& found);
// Who holds which GPU, from one look to the next.
class FitCheck {
public:
    // A GPU that was unfit and is, and has another holder now, was given away though it was known.
    void look(const master::Desk& desk, Findings& found);

private:
    std::map<std::string, std::string> unfit_;  // Last holder by GPU; empty: it had none since it is unfit.
};

// Where instances are, from one look to the next.
class TermsCheck {
public:
    // What has come to a place since the last look is where it may be.
    void look(const master::Desk& desk, Findings& found);

private:
    std::map<std::string, std::string> seen_;  // Claim by instance.
};

// On these machines nothing is held but what nobody knows of.
void check_sellers(const master::Desk& desk, const std::set<std::string>& liars, Findings& found);
// Slots that gave way, from one look to the next.
class StockCheck {
public:
    // What gave way since the last look was in the way, and more than is kept. What was done in an earlier
    // epoch is not looked at.
    void look(const master::Desk& desk, std::uint64_t epoch, Findings& found);

private:
    std::uint64_t epoch_ = 0;
    std::set<std::string> seen_;  // Slots that gave way, and to whom.
    std::set<std::string> idle_;
};

void check_sizes(const master::Desk& desk, const std::map<std::string, std::uint64_t>& on_disk,
                 const std::set<std::string>& spared, Findings& found);
// How full volumes are. Each number of bytes is told once, of one volume.
class UseCheck {
public:
    DiskUse tell(const std::string& volume, std::uint64_t size);
    void look(const master::Desk& desk, Findings& found) const;

private:
    std::map<std::int64_t, std::string> told_;  // Volume by bytes in use.
};

void check_reports(const master::Desk& desk, Findings& found);
void check_room(const master::Desk& desk, Findings& found);
// Of GPUs, nothing about instances that are `spared`.
void check_engine(const sim::Machine& machine, const std::set<std::string>& spared, Findings& found);
// The instance whose container this is.
inline std::string instance_of(const std::string& container) {
    constexpr std::string_view prefix = "hostler-";
    return container.starts_with(prefix) ? container.substr(prefix.size()) : container;
}

}  // namespace hostler::simulation
