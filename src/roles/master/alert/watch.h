// Looks at alerts and sends what is to be told, while a term lasts.
#pragma once

namespace hostler::master {

class Term;

// In the term's tasks.
void start_alerts(Term& term);

}  // namespace hostler::master
