// Makes the reports of schedules when they are due, and sends them.
#pragma once

namespace hostler::master {

class Term;

void start_reports(Term& term);

}  // namespace hostler::master
