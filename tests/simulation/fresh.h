// People who write, and others who read what was written, at whichever master: nobody is shown less than
// somebody was told before.
#pragma once

#include "cloud.h"

namespace hostler::simulation {

class Readers {
public:
    explicit Readers(Cloud& cloud) : cloud_(cloud), dice_(cloud.dice.fork("readers")) {}
    void start();
    void stop() { calm_ = true; }
    int reads() const { return reads_; }

private:
    Task<> write();
    Task<> read(sim::Dice dice);
    static std::size_t count(const std::string& body);

    Cloud& cloud_;
    sim::Dice dice_;
    void tell(std::size_t number);
    std::size_t told() const { return told_.empty() ? 0 : told_.rbegin()->second; }

    // Of what is written in order, so many were acknowledged or shown to anybody by then.
    std::map<Instant, std::size_t> told_;
    int reads_ = 0;
    bool calm_ = false;
};

}  // namespace hostler::simulation
