// Stock, what can be had, where it would go, and what it costs.
#pragma once

#include "api/operation.h"
#include "api/types_common.h"
#include "api/types_consolidation.h"
#include "api/types_offer.h"
#include "api/types_placement.h"
#include "api/types_price.h"
#include "api/types_stock.h"

namespace hostler::api::ops {

// clang-format off

// Calls of the source, at their paths and with their fields.
inline constexpr Typed<CreateStocks, Empty> create_stocks{{
    .name = "createStocks", .method = Method::post, .path = "/stocks", .permission = "stock.write",
    .scope = Scope::operator_only, .help = "Add slots to the stock of a spec. A missing spec is created.",
    .noun = "stock", .verb = "create", .argument = "specName",
    .example = "stock create h100-1 --number 4 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' "
               "--gpu-num 1"}};
inline constexpr Typed<DeleteStocks, Empty> delete_stocks{{
    .name = "deleteStocks", .method = Method::delete_, .path = "/stocks", .permission = "stock.write",
    .scope = Scope::operator_only, .help = "Remove idle slots from the stock of a spec.",
    .body = Body::or_query, .noun = "stock", .verb = "delete", .argument = "specName",
    .example = "stock delete h100-1 --number 1"}};

inline constexpr Typed<Empty, List<Spec>> list_specs{{
    .name = "listSpecs", .path = "/v1/specs", .permission = "spec.read", .help = "List the specs.",
    .list = true,
    .noun = "spec", .verb = "list", .columns = "name gpuType gpuNum cpu memory createdAt"}};
inline constexpr Typed<GetSpec, Spec> get_spec{{
    .name = "getSpec", .path = "/v1/specs/{spec}", .permission = "spec.read", .help = "Show a spec.",
    .noun = "spec", .verb = "get"}};

inline constexpr Typed<CreateSpec, Spec> create_spec{{
    .name = "createSpec", .method = Method::post, .path = "/v1/specs", .permission = "spec.write",
    .scope = Scope::operator_only, .help = "Create a spec without stock.", .status = 201,
    .noun = "spec", .verb = "create", .argument = "name",
    .example = "spec create h100-1 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' --gpu-num 1"}};
inline constexpr Typed<UpdateSpec, Spec> update_spec{{
    .name = "updateSpec", .method = Method::patch, .path = "/v1/specs/{spec}", .permission = "spec.write",
    .scope = Scope::operator_only, .help = "Change a spec without stock and instances.", .noun = "spec",
    .verb = "edit", .example = "spec edit h100-1 --memory 64Gi"}};
inline constexpr Typed<GetSpec, Empty> delete_spec{{
    .name = "deleteSpec", .method = Method::delete_, .path = "/v1/specs/{spec}", .permission = "spec.write",
    .scope = Scope::operator_only, .help = "Delete a spec without stock and instances.", .noun = "spec",
    .verb = "delete"}};

inline constexpr Typed<ListOffers, List<Offer>> list_offers{{
    .name = "listOffers", .path = "/v1/offers", .permission = "offer.read",
    .help = "List available instance shapes, by zone and host kind, with counts.", .list = true,
    .noun = "offer", .verb = "list", .argument = "query",
    .columns = "spec zone gpuType gpus gpuMemoryBytes tier cpu memory available ready price currency trust isolation "
               "vendor location",
    .example = "offers 'gpu_memory>=48 zone=lon trust=trusted' --order=-available"}};

inline constexpr Typed<ExplainPlacement, PlacementAnswer> explain_placement{{
    .name = "explainPlacement", .method = Method::post, .path = "/v1/placements", .permission = "offer.read",
    .help = "Show where tasks would be placed now, or why there is no room. Nothing is reserved.", .noun = "placement",
    .verb = "explain", .example = "placement explain --gpus 4 --model h100 --near lon --within-km 300"}};

inline constexpr Typed<ListPrices, List<Price>> list_prices{{
    .name = "listPrices", .path = "/v1/prices", .permission = "price.read",
    .help = "List the prices of a GPU for an hour.", .list = true, .noun = "price", .verb = "list",
    .columns = "gpuType zone trust isolation amount currency since version until id"}};
inline constexpr Typed<SetPrice, Price> set_price{{
    .name = "setPrice", .method = Method::put, .path = "/v1/prices", .permission = "price.write",
    .scope = Scope::operator_only,
    .help = "Set a price of GPUs from now on. It replaces the price of the same GPUs.", .noun = "price",
    .verb = "set", .argument = "gpuType", .example = "price set H100 --amount 2.49 --currency USD --zone lon"}};
inline constexpr Typed<RemovePrice, Price> remove_price{{
    .name = "removePrice", .method = Method::delete_, .path = "/v1/prices", .permission = "price.write",
    .scope = Scope::operator_only, .help = "End a price now.", .body = Body::or_query,
    .noun = "price", .verb = "remove", .argument = "gpuType", .example = "price remove H100 --zone lon"}};

inline constexpr Typed<Empty, List<Consolidation>> list_consolidations{{
    .name = "listConsolidations", .path = "/v1/consolidations", .permission = "consolidation.read",
    .scope = Scope::operator_only, .help = "List consolidations, also finished ones.", .list = true,
    .noun = "consolidation", .verb = "list",
    .columns = "id state gpus movesDone movesTotal restarts zone createdAt endedAt message"}};
inline constexpr Typed<GetConsolidation, Consolidation> get_consolidation{{
    .name = "getConsolidation", .path = "/v1/consolidations/{consolidation}", .permission = "consolidation.read",
    .scope = Scope::operator_only, .help = "Show the progress of a consolidation.", .noun = "consolidation",
    .verb = "get"}};
inline constexpr Typed<CreateConsolidation, Consolidation> create_consolidation{{
    .name = "createConsolidation", .method = Method::post, .path = "/v1/consolidations",
    .permission = "consolidation.write", .scope = Scope::operator_only,
    .help = "Move workloads so that whole hosts become free. A dry run answers the plan.",
    .status = 201, .noun = "consolidation", .verb = "create",
    .confirm = "Moved instances are stopped and started again.",
    .example = "consolidation create --zone lon --dry-run"}};
inline constexpr Typed<GetConsolidation, Consolidation> cancel_consolidation{{
    .name = "cancelConsolidation", .method = Method::post,
    .path = "/v1/consolidations/{consolidation}/cancel", .permission = "consolidation.write",
    .scope = Scope::operator_only, .help = "Cancel a consolidation: no further moves begin, and stopped instances "
                                           "are started again first.",
    .noun = "consolidation", .verb = "cancel", .example = "consolidation cancel co-4t1b9rk2mx"}};

inline constexpr Typed<ListStocks, List<Stock>> list_stocks{{
    .name = "listStocks", .path = "/v1/stocks", .permission = "stock.read", .scope = Scope::operator_only,
    .help = "List the stock of every spec.", .list = true, .noun = "stock", .verb = "list",
    .columns = "specName wanted idle inUse preparing missing imagesPresent message"}};
inline constexpr Typed<GetSpec, Stock> get_stock{{
    .name = "getStock", .path = "/v1/stocks/{spec}", .permission = "stock.read",
    .scope = Scope::operator_only,
    .help = "Show the stock of a spec, zone by zone.", .noun = "stock", .verb = "get"}};
inline constexpr Typed<UpdateStock, Stock> update_stock{{
    .name = "updateStock", .method = Method::patch, .path = "/v1/stocks/{spec}", .permission = "stock.write",
    .scope = Scope::operator_only, .help = "Set whether idle slots of a spec are reclaimed for instances.",
    .noun = "stock", .verb = "edit", .example = "stock edit h100-1 --reclaim idle --keep 2"}};
inline constexpr Typed<PrepareStock, Stock> prepare_stock{{
    .name = "prepareStock", .method = Method::put, .path = "/v1/stocks/{spec}/images",
    .permission = "stock.write", .scope = Scope::operator_only,
    .help = "Set which images the hosts of a stock pull in advance.", .noun = "stock",
    .verb = "prepare", .example = "stock prepare h100-1 --image docker.io/library/nginx:1.27 --template jupyter"}};

}  // namespace hostler::api::ops
