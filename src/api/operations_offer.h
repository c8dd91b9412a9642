// What can be had now.
#pragma once

#include "api/operation.h"
#include "api/types_offer.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListOffers, List<Offer>> list_offers{{
    .name = "listOffers", .path = "/v1/offers", .permission = Permission::offer_read,
    .help = "List available instance shapes, by zone and host kind, with counts.", .list = true, .pages = Pages::own,
    .noun = "offer", .verb = "list", .argument = "query",
    .columns = "spec zone gpuType gpus gpuMemoryBytes tier cpu memory available ready price currency trust isolation "
               "vendor location",
    .example = "offers 'gpu_memory>=48 zone=lon trust=trusted' --order=-available"}};

}  // namespace hostler::api::ops
