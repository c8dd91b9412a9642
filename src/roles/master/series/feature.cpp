#include "roles/master/state/feature.h"
#include "roles/master/series/parts.h"

namespace hostler::master {

Recorder& recorder_of(Term& term) {
    return term.part<Recorder>(
        [&] { return std::make_shared<Recorder>(term.ports().timers, term.ports().series); });
}

Queries& queries_of(Term& term) {
    return term.part<Queries>(
        [&] { return std::make_shared<Queries>(term.ports().timers, term.ports().series, term.tasks()); });
}

void add_series(Api& service);
void add_usage(Api& service);

static constexpr ApiPart series_api[] = {add_usage, add_series};
extern const Feature series_feature{
    .name = "series",
    .api = series_api,
    .start = [](Term& term) { term.tasks().start("series", recorder_of(term).run()); },
    .ended = [](Term& term) { recorder_of(term).forget(); },
};

}  // namespace hostler::master
