#include "roles/master/state/feature.h"

namespace hostler::master {

void add_tickets(Api& service);

static constexpr ApiPart ticket_api[] = {add_tickets};
extern const Feature ticket_feature{
    .name = "ticket",
    .api = ticket_api,
};

}  // namespace hostler::master
