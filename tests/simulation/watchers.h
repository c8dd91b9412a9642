// Whoever watches the instances of their tenant: a watch ends with the credential that it was begun by.
#pragma once

#include "people.h"

namespace hostler::simulation {

class Watchers {
public:
    // `hear`: what a watch has told.
    using Hear = std::function<void(const Look& by, const std::string& what, const std::string& told)>;
    Watchers(Cloud& cloud, People& people, Hear hear);

    Task<> watch(std::string tenant);  // One watch after another, until calm().
    void calm() { calm_ = true; }

    int watched = 0;  // Watches that told something,
    int cut = 0;      // and those of them that ended with their credential.

private:
    struct Open {
        CredentialPtr by;
        Instant since{};
        bool told = false;
    };
    Task<> one(sim::Dice& dice, CredentialPtr by);
    void look();
    // Since when it should be over; nullopt: it need not be.
    std::optional<Instant> over_since(const CredentialPtr& by) const;

    Cloud& cloud_;
    People& people_;
    Hear hear_;
    std::list<Open> open_;
    bool calm_ = false;
};

}  // namespace hostler::simulation
