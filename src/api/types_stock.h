// Stock: resources of instances made ready in advance.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

// POST /stocks. The four values of the shape may be left out for a spec that exists.
struct CreateStocks {
    int number = 0;
    std::string operation_id;
    std::string spec_name;
    std::optional<std::string> cpu{};
    std::optional<std::string> memory{};
    std::optional<std::string> gpu_type{};
    std::optional<int> gpu_num{};
    std::optional<std::string> zone{};
    std::optional<int> if_wanted{};
    bool operator==(const CreateStocks&) const = default;
};
BOOST_DESCRIBE_STRUCT(CreateStocks, (),
                      (number, operation_id, spec_name, cpu, memory, gpu_type, gpu_num, zone, if_wanted))
template <>
inline constexpr auto fields<CreateStocks> = std::to_array<Field>({
    {.member = "number", .help = "How many slots to add.", .example = "4", .min = 1, .max = 10'000},
    {.member = "operation_id",
     .help = "The caller's name for this call. A repeated call gets the first answer.",
     .example = "op-1", .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "spec_name", .help = "The spec, which this call creates if there is none of that name.",
     .example = "h100-1", .form = &forms::id},
    {.member = "cpu", .help = "CPUs of an instance; needed for a new spec.", .example = "8",
     .form = &forms::quantity},
    {.member = "memory", .help = "Memory of an instance; needed for a new spec.", .example = "32Gi",
     .form = &forms::quantity},
    {.member = "gpu_type", .help = "Model of the GPUs; needed for a new spec.", .example = "H100 SXM5 80GB",
     .min = 1, .max = 128, .form = &forms::one_line},
    {.member = "gpu_num", .help = "Whole GPUs of an instance, all on one host; needed for a new spec.",
     .example = "1", .min = 1, .max = 64},
    {.member = "zone", .help = "Only in this zone. Default: slots are spread over all zones.",
     .example = "nj",
     .form = &forms::label, .in = In::query},
    {.member = "if_wanted",
     .help = "Only if this number of slots is wanted now, of the zone if one is named; else 409 stock_changed.",
     .example = "0", .min = 0, .max = 1'000'000, .in = In::query},
});

// DELETE /stocks.
struct DeleteStocks {
    int number = 0;
    std::string operation_id;
    std::string spec_name;
    std::optional<std::string> zone{};
    std::optional<int> if_wanted{};
    bool operator==(const DeleteStocks&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeleteStocks, (), (number, operation_id, spec_name, zone, if_wanted))
template <>
inline constexpr auto fields<DeleteStocks> = std::to_array<Field>({
    {.member = "number", .help = "Number of idle slots to remove.", .example = "1", .min = 1,
     .max = 10'000},
    {.member = "operation_id",
     .help = "The caller's name for this call. A repeated call gets the first answer.",
     .example = "op-2", .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "spec_name", .help = "The spec.", .example = "h100-1", .form = &forms::id},
    {.member = "zone", .help = "Only in this zone.", .example = "nj", .form = &forms::label, .in = In::query},
    {.member = "if_wanted",
     .help = "Only if this number of slots is wanted now, of the zone if one is named; else 409 stock_changed.",
     .example = "4", .min = 0, .max = 1'000'000, .in = In::query},
});

struct StockInZone {
    std::string zone;
    int wanted = 0;
    int idle = 0;
    int in_use = 0;
    int preparing = 0;
    int missing = 0;
};
BOOST_DESCRIBE_STRUCT(StockInZone, (), (zone, wanted, idle, in_use, preparing, missing))
template <>
inline constexpr auto fields<StockInZone> = std::to_array<Field>({
    {.member = "zone", .help = "The zone.", .example = "nj"},
    {.member = "wanted", .help = "Wanted number of slots, in use or not.", .example = "4"},
    {.member = "idle", .help = "Slots that hold resources and wait for an instance.", .example = "3"},
    {.member = "in_use", .help = "Slots that an instance has taken.", .example = "1"},
    {.member = "preparing", .help = "Slots on a host that is not ready for them yet.", .example = "0"},
    {.member = "missing", .help = "Slots for which there is no room.", .example = "0"},
});

// An image that the hosts of a stock are to have in advance.
struct StockImage {
    std::string image;
    std::string template_;
    int hosts = 0;
    int present = 0;
    int pulling = 0;
    int failed = 0;
    std::string reason;
    std::string message;
};
BOOST_DESCRIBE_STRUCT(StockImage, (), (image, template_, hosts, present, pulling, failed, reason, message))
template <>
inline constexpr auto fields<StockImage> = std::to_array<Field>({
    {.member = "image", .help = "The image.", .example = "docker.io/library/nginx:1.27"},
    {.member = "template_", .help = "Template that needs the image; empty: the image was named directly.",
     .example = "jupyter"},
    {.member = "hosts", .help = "Number of hosts that need it: hosts with slots of the stock.", .example = "2"},
    {.member = "present", .help = "Hosts that have it.", .example = "1"},
    {.member = "pulling", .help = "Hosts on which it is being pulled or made.", .example = "1"},
    {.member = "failed", .help = "Hosts on which that failed; it is retried there.", .example = "0"},
    {.member = "reason", .help = "Why it failed on one of them, as a token.", .example = "image_unavailable"},
    {.member = "message", .help = "The same in words."},
});

// PUT /v1/stocks/{spec}/images.
struct PrepareStock {
    std::string spec;
    std::vector<std::string> images{};
    std::vector<std::string> templates{};
};
BOOST_DESCRIBE_STRUCT(PrepareStock, (), (spec, images, templates))
template <>
inline constexpr auto fields<PrepareStock> = std::to_array<Field>({
    {.member = "spec", .help = "The spec's name.", .example = "h100-1"},
    {.member = "images", .help = "Images that each host of the stock pulls in advance; empty: none.",
     .max = 64, .absent = Absent::fills},
    {.member = "templates", .help = "Templates with images that each host pulls in advance.",
     .max = 64, .absent = Absent::fills},
});
template <>
struct Rules<PrepareStock> {
    static void check(const PrepareStock& request, Wrong& wrong);
};

enum class Reclaim { never, idle };
BOOST_DESCRIBE_ENUM(Reclaim, never, idle)

// PATCH /v1/stocks/{spec}. What is not given stays.
struct UpdateStock {
    std::string spec;
    std::optional<Reclaim> reclaim{};
    std::optional<int> keep{};
};
BOOST_DESCRIBE_STRUCT(UpdateStock, (), (spec, reclaim, keep))
template <>
inline constexpr auto fields<UpdateStock> = std::to_array<Field>({
    {.member = "spec", .help = "The spec's name.", .example = "h100-1"},
    {.member = "reclaim",
     .help = "never: idle slots wait for instances of the spec; idle: they are reclaimed for instances that find no "
             "other room, and are placed again later.",
     .example = "idle"},
    {.member = "keep", .help = "Minimum number of idle slots to keep, across all zones.",
     .example = "2", .min = 0, .max = 1'000'000},
});

struct Stock {
    std::string spec_name;
    int wanted = 0;
    int idle = 0;
    int in_use = 0;
    int preparing = 0;
    int missing = 0;
    std::vector<StockInZone> zones;
    std::string reason;
    std::string message;
    std::string images_present;
    std::vector<StockImage> images;
    Reclaim reclaim = Reclaim::never;
    int keep = 0;
};
BOOST_DESCRIBE_STRUCT(Stock, (),
                      (spec_name, wanted, idle, in_use, preparing, missing, zones, reason, message,
                       images_present, images, reclaim, keep))
template <>
inline constexpr auto fields<Stock> = std::to_array<Field>({
    {.member = "spec_name", .help = "The spec.", .example = "h100-1"},
    {.member = "wanted", .help = "Wanted number of slots, in use or not.", .example = "4"},
    {.member = "idle", .help = "Slots that hold resources and wait for an instance.", .example = "3"},
    {.member = "in_use", .help = "Slots that an instance has taken.", .example = "1"},
    {.member = "preparing", .help = "Slots on a host that is not ready for them yet.", .example = "0"},
    {.member = "missing", .help = "Slots for which there is no room.", .example = "0"},
    {.member = "zones", .help = "The same figures by zone."},
    {.member = "reason",
     .help = "Why slots are missing, as a token: insufficient_capacity, or gave_way (reclaimed for an instance); "
             "empty when none are.",
     .example = "insufficient_capacity"},
    {.member = "message", .help = "The same in words."},
    {.member = "images_present",
     .help = "How many of the wanted images are present on its hosts; empty: none are wanted.",
     .example = "3 of 4"},
    {.member = "images", .help = "The wanted images."},
    {.member = "reclaim", .help = "Whether idle slots are reclaimed for instances that find no other room: never or idle.",
     .example = "idle"},
    {.member = "keep", .help = "Minimum number of idle slots to keep.", .example = "2"},
});

struct ListStocks {
    std::optional<std::string> zone{};
};
BOOST_DESCRIBE_STRUCT(ListStocks, (), (zone))
template <>
inline constexpr auto fields<ListStocks> = std::to_array<Field>({
    {.member = "zone", .help = "Only what lies in this zone.", .example = "nj", .form = &forms::label},
});

}  // namespace hostler::api
