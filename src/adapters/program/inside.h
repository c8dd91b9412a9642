// The first process within a program's namespaces, and the program itself.
#pragma once

#include "adapters/program/plan.h"

namespace hostler::program {

struct InsideEnds {
    int go = -1;      // A byte comes once the control groups are entered; its end means that the holder died.
    int report = -1;  // Why the program could not be started; nothing, once it runs.
    int output = -1;  // Of the program.
    int owners = -1;  // owner_namespace(); -1: none.
};

// Ends with the exit code of the program, 128 + the signal's number where one killed it. SIGTERM is passed on
// to the program's group of processes.
[[noreturn]] void be_first_process(const Plan& plan, InsideEnds ends);

// As `report` carries it; empty: it runs.
std::string report_text(const Error& error);
Error parse_report(std::string_view text);

}  // namespace hostler::program
