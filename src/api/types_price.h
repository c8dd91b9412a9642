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
    {.member = "id", .help = "Its id: what was used names it.", .example = "p-4t1b9rk2mx"},
    {.member = "gpu_type", .help = "Words of the GPUs' models; any: each model that has no price of its own.",
     .example = "H100"},
    {.member = "zone", .help = "Where they are; absent: anywhere.", .example = "lon"},
    {.member = "trust", .help = "Whose hosts, as in offers; absent: anybody's.", .example = "trusted"},
    {.member = "isolation", .help = "What divides them from others, as in offers; absent: whatever it is.",
     .example = "user_namespace"},
    {.member = "amount", .help = "Of one GPU for an hour.", .example = "2.49"},
    {.member = "currency", .help = "Of the amount: three letters.", .example = "USD"},
    {.member = "version", .help = "Rises with each price that is set; what ifVersion and If-Match mean.", .example = "7"},
    {.member = "since", .help = "From then on it holds."},
    {.member = "until", .help = "From then on it holds no more; absent: it does."},
});

struct ListPrices {
    bool past = false;
};
BOOST_DESCRIBE_STRUCT(ListPrices, (), (past))
template <>
inline constexpr auto fields<ListPrices> = std::to_array<Field>({
    {.member = "past", .help = "Also those that hold no more.", .example = "true", .absent = Absent::fills},
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
    {.member = "gpu_type", .help = "Words of the GPUs' models; any: each model that has no price of its own.",
     .example = "H100", .min = 1, .max = 128, .form = &forms::one_line},
    {.member = "amount", .help = "Of one GPU for an hour, with at most six digits behind the point.",
     .example = "2.49", .form = &forms::money},
    {.member = "currency", .help = "Three letters, the same for all; without it, that of the other prices.",
     .example = "USD", .form = &forms::currency},
    {.member = "zone", .help = "Only there.", .example = "lon", .form = &forms::label},
    {.member = "trust", .help = "Only on such hosts.", .example = "trusted"},
    {.member = "isolation", .help = "Only with that.", .example = "user_namespace"},
    {.member = "if_version",
     .help = "Only if the price that holds for just these has this version; 0: if there is none. The header If-Match "
             "says the same.",
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
    {.member = "if_version", .help = "Only if it has this version. The header If-Match says the same.", .example = "7",
     .min = 0},
});

}  // namespace hostler::api
