#include <algorithm>
#include <array>

#include "roles/master/state/feature.h"

namespace hostler::master {

#define FOLDER(name, level)
#define FEATURE(name, level) extern const Feature name##_feature;
#include "roles/master/features.def"
#undef FEATURE

std::span<const Feature* const> features() {
    static constexpr auto all = std::to_array<const Feature*>({
#define FEATURE(name, level) &name##_feature,
#include "roles/master/features.def"
#undef FEATURE
#undef FOLDER
    });
    return all;
}

const VerbRow& row_of(Verb verb) {
    for (const Feature* feature : features())
        for (const VerbRow& row : feature->verbs)
            if (row.verb == verb) return row;
    broken("a verb that no feature has", __FILE__, __LINE__);
}

}  // namespace hostler::master
