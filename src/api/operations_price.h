// Prices of GPUs.
#pragma once

#include "api/operation.h"
#include "api/types_price.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListPrices, List<Price>> list_prices{{
    .name = "listPrices", .path = "/v1/prices", .permission = Permission::price_read,
    .help = "List the prices of a GPU for an hour.", .list = true, .noun = "price", .verb = "list",
    .columns = "gpuType zone trust isolation amount currency since version until id"}};
inline constexpr Typed<SetPrice, Price> set_price{{
    .name = "setPrice", .method = Method::put, .path = "/v1/prices", .permission = Permission::price_write,
    .help = "Set a price of GPUs from now on. It replaces the price of the same GPUs.", .noun = "price",
    .verb = "set", .argument = "gpuType", .example = "price set H100 --amount 2.49 --currency USD --zone lon"}};
inline constexpr Typed<RemovePrice, Price> remove_price{{
    .name = "removePrice", .method = Method::delete_, .path = "/v1/prices",
    .permission = Permission::price_write, .help = "End a price now.", .body = Body::or_query,
    .noun = "price", .verb = "remove", .argument = "gpuType", .example = "price remove H100 --zone lon"}};

}  // namespace hostler::api::ops
