// Prices: what a GPU costs for an hour.
#pragma once

#include "api/types_placement.h"

namespace hostler::api {

// clang-format off

enum class PriceIsolation { user_namespace, container };
BOOST_DESCRIBE_ENUM(PriceIsolation, user_namespace, container)

struct Price {
    std::string id;
    std::string gpu_type;
    std::optional<std::string> zone{};
    std::optional<Trust> trust{};
    std::optional<PriceIsolation> isolation{};
    std::string amount;
    std::string currency;
    std::int64_t version = 0;
    WallTime since;
    std::optional<WallTime> until{};
};
BOOST_DESCRIBE_STRUCT(Price, (), (id, gpu_type, zone, trust, isolation, amount, currency, version, since, until))
template <>
inline constexpr auto fields<Price> = std::to_array<Field>({
    {.member = "id", .help = "Its id, which usage records name.", .example = "p-4t1b9rk2mx"},
    {.member = "gpu_type", .help = "Words of the GPU models; any: all models without a price.",
     .example = "H100"},
    {.member = "zone", .help = "Zone; absent: all.", .example = "lon"},
    {.member = "trust", .help = "Trust in the hosts, as in offers; absent: any.", .example = "trusted"},
    {.member = "isolation", .help = "Isolation from other tenants, as in offers; absent: any.",
     .example = "user_namespace"},
    {.member = "amount", .help = "Price of one GPU for an hour.", .example = "2.49"},
    {.member = "currency", .help = "Currency: three letters.", .example = "USD"},
    {.member = "version", .help = "Increases with each price that is set. For ifVersion and If-Match.", .example = "7"},
    {.member = "since", .help = "Start of the price."},
    {.member = "until", .help = "End of the price; absent: it is in force."},
});

struct ListPrices {
    bool past = false;
};
BOOST_DESCRIBE_STRUCT(ListPrices, (), (past))
template <>
inline constexpr auto fields<ListPrices> = std::to_array<Field>({
    {.member = "past", .help = "Also ended prices.", .example = "true", .absent = Absent::fills},
});

struct SetPrice {
    std::string gpu_type;
    std::string amount;
    std::optional<std::string> currency{};
    std::optional<std::string> zone{};
    std::optional<Trust> trust{};
    std::optional<PriceIsolation> isolation{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(SetPrice, (), (gpu_type, amount, currency, zone, trust, isolation, if_version))
template <>
inline constexpr auto fields<SetPrice> = std::to_array<Field>({
    {.member = "gpu_type", .help = "Words of the GPU models; any: all models without a price.",
     .example = "H100", .min = 1, .max = 128, .form = &forms::one_line},
    {.member = "amount", .help = "Price of one GPU for an hour, with at most six decimals.",
     .example = "2.49", .form = &forms::money},
    {.member = "currency", .help = "Three letters, the same for all prices. Default: the currency of the other prices.",
     .example = "USD", .form = &forms::currency},
    {.member = "zone", .help = "Only in this zone.", .example = "lon", .form = &forms::label},
    {.member = "trust", .help = "Only on hosts with this trust.", .example = "trusted"},
    {.member = "isolation", .help = "Only with this isolation.", .example = "user_namespace"},
    {.member = "if_version",
     .help = "Only if the present price of the same GPUs has this version; 0: if there is none. Same as the header "
             "If-Match.",
     .example = "7", .min = 0},
});

struct RemovePrice {
    std::string gpu_type;
    std::optional<std::string> zone{};
    std::optional<Trust> trust{};
    std::optional<PriceIsolation> isolation{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(RemovePrice, (), (gpu_type, zone, trust, isolation, if_version))
template <>
inline constexpr auto fields<RemovePrice> = std::to_array<Field>({
    {.member = "gpu_type", .help = "As it was set.", .example = "H100", .min = 1, .max = 128, .form = &forms::one_line},
    {.member = "zone", .help = "As it was set.", .example = "lon", .form = &forms::label},
    {.member = "trust", .help = "As it was set.", .example = "trusted"},
    {.member = "isolation", .help = "As it was set.", .example = "user_namespace"},
    {.member = "if_version", .help = "Only if it has this version. Same as the header If-Match.", .example = "7",
     .min = 0},
});

}  // namespace hostler::api
