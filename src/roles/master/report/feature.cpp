#include "roles/master/state/feature.h"
#include "roles/master/report/watch.h"

namespace hostler::master {

void add_reports(Api& service);
void add_report_schedules(Api& service);

static constexpr ApiPart report_api[] = {add_reports, add_report_schedules};
extern const Feature report_feature{
    .name = "report",
    .api = report_api,
    .start = start_reports,
};

}  // namespace hostler::master
