// A GPU whose driver did not answer.
#pragma once

#include "core/result.h"
#include "domain/inventory/sample.h"

namespace hostler {

inline GpuSample unresponsive(const Error& why) {
    return {.condition = GpuCondition::unresponsive,
            .reason = "the driver does not answer for it: " + why.message};
}

}  // namespace hostler
