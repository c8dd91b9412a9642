// What a term keeps to bring samples into the series and to ask them.
#pragma once

#include "roles/master/leader/term.h"
#include "roles/master/series/queries.h"
#include "roles/master/series/recorder.h"

namespace hostler::master {

Recorder& recorder_of(Term& term);
Queries& queries_of(Term& term);

}  // namespace hostler::master
