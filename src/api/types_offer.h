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
    {.member = "spec", .help = "What specName says when an instance is created.", .example = "h100-1"},
    {.member = "zone", .help = "Where it would be.", .example = "lon"},
    {.member = "location", .help = "Where that is.", .example = "London, GB"},
    {.member = "gpu_type", .help = "Model of its GPUs; empty: it has none.", .example = "H100 SXM5 80GB"},
    {.member = "vendor", .help = "Who makes them.", .example = "nvidia"},
    {.member = "gpus", .help = "Whole GPUs of an instance.", .example = "1"},
    {.member = "gpu_memory_bytes", .help = "Memory of each, as its data sheet says.",
     .example = "85899345920", .unit = Unit::bytes},
    {.member = "tier",
     .help = "What its GPUs were measured to be: frontier, training, inference, entry or unrated.",
     .example = "frontier"},
    {.member = "cpu", .help = "CPUs of an instance.", .example = "8"},
    {.member = "memory", .help = "Memory of an instance.", .example = "32Gi"},
    {.member = "isolation",
     .help = "What divides it from others: user_namespace (a container whose root is nobody on its host) or container.",
     .example = "user_namespace"},
    {.member = "trust", .help = "Whose hosts: trusted or community; a host of the operator's own is trusted, unless said otherwise.",
     .example = "trusted"},
    {.member = "ready", .help = "So many of them stand ready in stock.", .example = "2"},
    {.member = "available",
     .help = "So many could be had now, those included, if nothing else were taken from the same hosts.",
     .example = "6"},
    {.member = "reclaimable",
     .help = "So many more could be had now: idle stock of other specs would give way to them.", .example = "2"},
    {.member = "price", .help = "What an instance costs for an hour: its GPUs together; absent: nothing is said of it.",
     .example = "2.49"},
    {.member = "currency", .help = "Of the price.", .example = "USD"},
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
    {"ready", QueryKind::number, "How many stand ready in stock."},
    {"available", QueryKind::number, "How many could be had."},
    {"reclaimable", QueryKind::number, "How many more idle stock would give way to."},
    {"price", QueryKind::money, "What an instance costs for an hour, in the one currency of all prices."},
});

struct ListOffers {
    std::string query;
    std::string order;
};
BOOST_DESCRIBE_STRUCT(ListOffers, (), (query, order))
template <>
inline constexpr auto fields<ListOffers> = std::to_array<Field>({
    {.member = "query", .help = "Only what fits: FIELD OP VALUE, several with blanks between them (docs/use/offers.md).",
     .example = "gpu_memory>=48 zone=lon", .max = query_length_max, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "order", .help = "By which fields, with commas; -FIELD: the highest first.",
     .example = "-available", .max = 256, .form = &forms::one_line, .absent = Absent::fills},
});
template <>
struct Rules<ListOffers> {
    static void check(const ListOffers& request, Wrong& wrong);
};

}  // namespace hostler::api
