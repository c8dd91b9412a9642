// A denial in words for people: what was asked, what stands in the way, what would help.
#pragma once

#include "domain/scheduler/denial.h"

namespace hostler {

void describe(Denial& denial, const Need& need, const Fleet& fleet);
void describe(Denial& denial, const Gang& gang);

}  // namespace hostler
