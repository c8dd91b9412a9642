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
    .scope = Scope::operator_only, .help = "Add slots to the stock of a spec, which is created if need be.",
    .noun = "stock", .verb = "create", .argument = "specName",
    .example = "stock create h100-1 --number 4 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' "
               "--gpu-num 1"}};
inline constexpr Typed<DeleteStocks, Empty> delete_stocks{{
    .name = "deleteStocks", .method = Method::delete_, .path = "/stocks", .permission = "stock.write",
    .scope = Scope::operator_only, .help = "Take idle slots out of the stock of a spec.",
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
    .scope = Scope::operator_only, .help = "Say what a spec is; its stock comes later, or never.", .status = 201,
    .noun = "spec", .verb = "create", .argument = "name",
    .example = "spec create h100-1 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' --gpu-num 1"}};
inline constexpr Typed<UpdateSpec, Spec> update_spec{{
    .name = "updateSpec", .method = Method::patch, .path = "/v1/specs/{spec}", .permission = "spec.write",
    .scope = Scope::operator_only, .help = "Change a spec that has neither stock nor instances.", .noun = "spec",
    .verb = "edit", .example = "spec edit h100-1 --memory 64Gi"}};
inline constexpr Typed<GetSpec, Empty> delete_spec{{
    .name = "deleteSpec", .method = Method::delete_, .path = "/v1/specs/{spec}", .permission = "spec.write",
    .scope = Scope::operator_only, .help = "Delete a spec that has neither stock nor instances.", .noun = "spec",
    .verb = "delete"}};

inline constexpr Typed<ListOffers, List<Offer>> list_offers{{
    .name = "listOffers", .path = "/v1/offers", .permission = "offer.read",
    .help = "List what could be had now: which spec, in which zone, on what, how often.", .list = true,
    .noun = "offer", .verb = "list", .argument = "query",
    .columns = "spec zone gpuType gpus gpuMemoryBytes tier cpu memory available ready price currency trust isolation "
               "vendor location",
    .example = "offers 'gpu_memory>=48 zone=lon trust=trusted' --order=-available"}};

inline constexpr Typed<ExplainPlacement, PlacementAnswer> explain_placement{{
    .name = "explainPlacement", .method = Method::post, .path = "/v1/placements", .permission = "offer.read",
    .help = "Tell where tasks would go now, or why they have no place; nothing is reserved.", .noun = "placement",
    .verb = "explain", .example = "placement explain --gpus 4 --model h100 --near lon --within-km 300"}};

inline constexpr Typed<ListPrices, List<Price>> list_prices{{
    .name = "listPrices", .path = "/v1/prices", .permission = "price.read",
    .help = "List what a GPU costs for an hour.", .list = true, .noun = "price", .verb = "list",
    .columns = "gpuType zone trust isolation amount currency since version until id"}};
inline constexpr Typed<SetPrice, Price> set_price{{
    .name = "setPrice", .method = Method::put, .path = "/v1/prices", .permission = "price.write",
    .scope = Scope::operator_only,
    .help = "Set what GPUs cost from now on; what holds for just these so far ends.", .noun = "price",
    .verb = "set", .argument = "gpuType", .example = "price set H100 --amount 2.49 --currency USD --zone lon"}};
inline constexpr Typed<RemovePrice, Price> remove_price{{
    .name = "removePrice", .method = Method::delete_, .path = "/v1/prices", .permission = "price.write",
    .scope = Scope::operator_only, .help = "Let a price hold no more from now on.", .body = Body::or_query,
    .noun = "price", .verb = "remove", .argument = "gpuType", .example = "price remove H100 --zone lon"}};

inline constexpr Typed<Empty, List<Consolidation>> list_consolidations{{
    .name = "listConsolidations", .path = "/v1/consolidations", .permission = "consolidation.read",
    .scope = Scope::operator_only, .help = "List consolidations that are under way or over.", .list = true,
    .noun = "consolidation", .verb = "list",
    .columns = "id state gpus movesDone movesTotal restarts zone createdAt endedAt message"}};
inline constexpr Typed<GetConsolidation, Consolidation> get_consolidation{{
    .name = "getConsolidation", .path = "/v1/consolidations/{consolidation}", .permission = "consolidation.read",
    .scope = Scope::operator_only, .help = "Show how far a consolidation is.", .noun = "consolidation",
    .verb = "get"}};
inline constexpr Typed<CreateConsolidation, Consolidation> create_consolidation{{
    .name = "createConsolidation", .method = Method::post, .path = "/v1/consolidations",
    .permission = "consolidation.write", .scope = Scope::operator_only,
    .help = "Move what may be moved so that whole hosts become free; a dry run answers the plan.",
    .status = 201, .noun = "consolidation", .verb = "create",
    .confirm = "Instances that are moved are stopped and begun anew.",
    .example = "consolidation create --zone lon --dry-run"}};
inline constexpr Typed<GetConsolidation, Consolidation> cancel_consolidation{{
    .name = "cancelConsolidation", .method = Method::post,
    .path = "/v1/consolidations/{consolidation}/cancel", .permission = "consolidation.write",
    .scope = Scope::operator_only, .help = "Begin no further moves; what was stopped is begun again first.",
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
    .scope = Scope::operator_only, .help = "Say whether idle slots of a spec give way to instances.",
    .noun = "stock", .verb = "edit", .example = "stock edit h100-1 --reclaim idle --keep 2"}};
inline constexpr Typed<PrepareStock, Stock> prepare_stock{{
    .name = "prepareStock", .method = Method::put, .path = "/v1/stocks/{spec}/images",
    .permission = "stock.write", .scope = Scope::operator_only,
    .help = "Say which images the hosts of a stock are to have in advance.", .noun = "stock",
    .verb = "prepare", .example = "stock prepare h100-1 --image docker.io/library/nginx:1.27 --template jupyter"}};

}  // namespace hostler::api::ops
