#include "domain/alert/silence.h"

namespace hostler::alert {

bool silences(const Silence& silence, const std::string& told_tenant, const Labels& labels,
              std::int64_t now) {
    return silence.tenant == told_tenant && now < silence.until && !silence.matchers.empty() &&
           matches(silence.matchers, labels);
}

}  // namespace hostler::alert
