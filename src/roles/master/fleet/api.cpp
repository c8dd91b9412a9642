#include "roles/master/http/api.h"
#include "api/operations_fleet.h"
#include "roles/master/fleet/answer.h"

namespace hostler::master {

void add_fleet(Api& service) {
    service.handlers().on<api::ops::get_fleet>(
        [&service](api::Call call, api::GetFleet request) -> Task<api::Fleet> {
            const TermPtr term = CO_TRY(service.leader());
            const Desk& desk = term->look();
            FleetMap& map = desk.live.part<FleetMap>();
            map.follow(desk);
            auto fleet = CO_TRY(fleet_answer(map, call, request, term->epoch(), term->ports().timers.wall()));
            CO_TRY(co_await term->settled());
            co_return fleet;
        });
}

}  // namespace hostler::master
