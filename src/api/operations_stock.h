// Stock of specs.
#pragma once

#include "api/operation.h"
#include "api/types_spec.h"
#include "api/types_stock.h"

namespace hostler::api::ops {

// clang-format off

// Calls of the source, at their paths and with their fields.
inline constexpr Typed<CreateStocks, Empty> create_stocks{{
    .name = "createStocks", .method = Method::post, .path = "/stocks",
    .permission = Permission::stock_write, .help = "Add slots to the stock of a spec. A missing spec is created.",
    .noun = "stock", .verb = "create", .argument = "specName",
    .example = "stock create h100-1 --number 4 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' "
               "--gpu-num 1"}};
inline constexpr Typed<DeleteStocks, Empty> delete_stocks{{
    .name = "deleteStocks", .method = Method::delete_, .path = "/stocks",
    .permission = Permission::stock_write, .help = "Remove idle slots from the stock of a spec.",
    .body = Body::or_query, .noun = "stock", .verb = "delete", .argument = "specName",
    .example = "stock delete h100-1 --number 1"}};

inline constexpr Typed<ListStocks, List<Stock>> list_stocks{{
    .name = "listStocks", .path = "/v1/stocks", .permission = Permission::stock_read,
    .help = "List the stock of every spec.", .list = true, .noun = "stock", .verb = "list",
    .columns = "specName wanted idle inUse preparing missing imagesPresent message"}};
inline constexpr Typed<GetSpec, Stock> get_stock{{
    .name = "getStock", .path = "/v1/stocks/{spec}", .permission = Permission::stock_read,
    .help = "Show the stock of a spec, zone by zone.", .noun = "stock", .verb = "get"}};
inline constexpr Typed<PrepareStock, Stock> prepare_stock{{
    .name = "prepareStock", .method = Method::put, .path = "/v1/stocks/{spec}/images",
    .permission = Permission::stock_write,
    .help = "Set which images the hosts of a stock pull in advance.", .noun = "stock",
    .verb = "prepare", .example = "stock prepare h100-1 --image docker.io/library/nginx:1.27 --template jupyter"}};
inline constexpr Typed<UpdateStock, Stock> update_stock{{
    .name = "updateStock", .method = Method::patch, .path = "/v1/stocks/{spec}",
    .permission = Permission::stock_write, .help = "Set whether idle slots of a spec are reclaimed for instances.",
    .noun = "stock", .verb = "edit", .example = "stock edit h100-1 --reclaim idle --keep 2"}};

}  // namespace hostler::api::ops
