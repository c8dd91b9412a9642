// What belongs to whom, by all ids and names that the cloud has ever had: nobody hears of what is another's.
#pragma once

#include "cloud.h"

namespace hostler::simulation {

class Belongings {
public:
    explicit Belongings(Cloud& cloud) : cloud_(cloud) {}

    // Whose ears hear something: of a tenant, or of one project of it, or of nothing.
    struct Ears {
        std::string tenant, project;  // `project` empty: all of the tenant's.
        bool nothing = false;
    };
    // A word of `text` that is not for these, and is not in what they have asked; empty: there is none.
    std::string foreign_in(const std::string& text, const Ears& ears, const std::string& asked);
    std::size_t known() const { return of_.size(); }

private:
    struct Place {
        std::string tenant, project;  // `project` empty: it is the tenant's, and not of one of its projects.
    };
    void learn();
    bool is_for(const Place& place, const Ears& ears) const;

    Cloud& cloud_;
    std::map<std::string, Place> of_;  // By id or name.
    std::uint64_t learned_ = 0;        // How many commits were called for by then.
};

}  // namespace hostler::simulation
