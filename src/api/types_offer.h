// Offers: what could be had now, where and how.
#pragma once

#include "api/query.h"
#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct Offer {
    std::string spec;
    std::string zone;
    std::string location;
    std::string gpu_type;
    std::string vendor;
    int gpus = 0;
    std::int64_t gpu_memory_bytes = 0;
    std::string tier;
    std::string cpu;
    std::string memory;
    std::string isolation;
    std::string trust;
    int ready = 0;
    int available = 0;
    int reclaimable = 0;
    std::optional<std::string> price{};
    std::optional<std::string> currency{};
};
BOOST_DESCRIBE_STRUCT(Offer, (), (spec, zone, location, gpu_type, vendor, gpus, gpu_memory_bytes, tier, cpu, memory,
                                  isolation, trust, ready, available, reclaimable, price, currency))
template <>
inline constexpr auto fields<Offer> = std::to_array<Field>({
    {.member = "spec", .help = "Value of specName for an instance of this shape.", .example = "h100-1"},
    {.member = "zone", .help = "Zone.", .example = "lon"},
    {.member = "location", .help = "Location of the zone.", .example = "London, GB"},
    {.member = "gpu_type", .help = "GPU model; empty: no GPU.", .example = "H100 SXM5 80GB"},
    {.member = "vendor", .help = "GPU vendor.", .example = "nvidia"},
    {.member = "gpus", .help = "Whole GPUs of an instance.", .example = "1"},
    {.member = "gpu_memory_bytes", .help = "Memory of each, as its data sheet says.",
     .example = "85899345920", .unit = Unit::bytes},
    {.member = "tier",
     .help = "Measured tier of the GPUs: frontier, training, inference, entry or unrated.",
     .example = "frontier"},
    {.member = "cpu", .help = "CPUs of an instance.", .example = "8"},
    {.member = "memory", .help = "Memory of an instance.", .example = "32Gi"},
    {.member = "isolation",
     .help = "Isolation from other tenants: user_namespace (root in the container is an unprivileged user of the "
             "host) or container.",
     .example = "user_namespace"},
    {.member = "trust", .help = "Trust in the hosts: trusted or community. The operator's own hosts are trusted, "
                                "unless set otherwise.",
     .example = "trusted"},
    {.member = "ready", .help = "Number of ready stock slots.", .example = "2"},
    {.member = "available",
     .help = "Number available now, ready slots included, if nothing else is placed on the same hosts.",
     .example = "6"},
    {.member = "reclaimable",
     .help = "Number available in addition if idle stock of other specs is reclaimed.", .example = "2"},
    {.member = "price", .help = "Price of an instance for an hour, for all its GPUs; absent: no price is set.",
     .example = "2.49"},
    {.member = "currency", .help = "Currency of the price.", .example = "USD"},
});

// What a query and an order may name.
inline constexpr auto offer_fields = std::to_array<QueryField>({
    {"spec", QueryKind::text, "The spec's name."},
    {"zone", QueryKind::text, "The zone's name."},
    {"gpu_type", QueryKind::words, "The GPUs' model, by its words."},
    {"vendor", QueryKind::text, "nvidia, amd, intel or other.", "nvidia amd intel other"},
    {"gpus", QueryKind::number, "Whole GPUs."},
    {"gpu_memory", QueryKind::bytes, "Memory of each GPU."},
    {"tier", QueryKind::text, "frontier, training, inference, entry or unrated.",
     "frontier training inference entry unrated"},
    {"cpu", QueryKind::cpus, "CPUs."},
    {"memory", QueryKind::bytes, "Memory."},
    {"isolation", QueryKind::text, "user_namespace or container.", "user_namespace container"},
    {"trust", QueryKind::text, "trusted or community.", "trusted community"},
    {"ready", QueryKind::number, "Number of ready stock slots."},
    {"available", QueryKind::number, "Number available."},
    {"reclaimable", QueryKind::number, "Number available in addition if idle stock is reclaimed."},
    {"price", QueryKind::money, "Price of an instance for an hour, in the currency of all prices."},
});

struct ListOffers {
    std::string query;
    std::string order;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListOffers, (), (query, order, tenant_id))
template <>
inline constexpr auto fields<ListOffers> = std::to_array<Field>({
    {.member = "query", .help = "Only what fits: FIELD OP VALUE, several with blanks between them (docs/use/offers.md).",
     .example = "gpu_memory>=48 zone=lon", .max = query_length_max, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "order", .help = "Fields to sort by, with commas; -FIELD: highest first.",
     .example = "-available", .max = 256, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "tenant_id", .help = "Only what the policies of the cloud and this tenant allow. Default: the caller's.",
     .example = "acme", .form = &forms::id},
});
template <>
struct Rules<ListOffers> {
    static void check(const ListOffers& request, Wrong& wrong);
};

}  // namespace hostler::api
