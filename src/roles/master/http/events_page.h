// Pages of the events of the store.
#pragma once

#include "api/types_event.h"
#include "roles/master/http/api.h"

namespace hostler::master {

// A page of those that `query` asks for and that are not from before `begin`: the newest ones in rising
// order, or, with the newest first, from there on to older ones, page by page.
Task<api::List<api::Event>> events_page(TermPtr term, api::Call call, EventQuery query,
                                        WallTime begin = WallTime::min());

}  // namespace hostler::master
