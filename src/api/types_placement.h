// Where a task may go, and why it goes nowhere.
#pragma once

#include "api/types_common.h"
#include "domain/labels.h"

namespace hostler::api {

// clang-format off

namespace forms {
extern const Form label_filter;  // "team=ml,gpu": domain/labels.h.
extern const Form place;   // A zone's name, or "LAT,LONG" in degrees.
extern const Form spot;    // "LAT,LONG" in degrees.
}  // namespace forms

enum class Vendor { nvidia, amd, intel, other };
BOOST_DESCRIBE_ENUM(Vendor, nvidia, amd, intel, other)
enum class Tier { frontier, training, inference, entry };
BOOST_DESCRIBE_ENUM(Tier, frontier, training, inference, entry)
enum class Isolation { container, user_namespace, exclusive };
BOOST_DESCRIBE_ENUM(Isolation, container, user_namespace, exclusive)
enum class Trust { community, trusted };
BOOST_DESCRIBE_ENUM(Trust, community, trusted)
enum class Area { host, rack, zone };
BOOST_DESCRIBE_ENUM(Area, host, rack, zone)
enum class Link { nvlink, pcie, numa };
BOOST_DESCRIBE_ENUM(Link, nvlink, pcie, numa)

inline constexpr int within_km_default = 100;
inline constexpr std::int64_t label_changes_max = 2 * labels_max;  // All are taken away, and as many set.

struct Placement {
    std::vector<std::string> zones;
    std::vector<std::string> racks;
    std::vector<std::string> hosts;
    std::optional<std::string> near{};
    std::optional<int> within_km{};
    std::optional<std::string> model{};
    std::optional<std::string> gpu_class{};
    std::optional<Vendor> vendor{};
    std::optional<std::string> gpu_memory{};
    std::optional<Tier> tier{};
    std::optional<Isolation> isolation{};
    std::optional<Trust> trust{};
    Labels labels;
    std::optional<std::string> max_price{};
    std::optional<std::string> group{};
    std::optional<Area> apart{};
    std::optional<Area> spread{};
    std::optional<Area> pack{};
    std::optional<Link> link{};
    std::optional<Link> link_wanted{};
    bool operator==(const Placement&) const = default;
};
BOOST_DESCRIBE_STRUCT(Placement, (),
                      (zones, racks, hosts, near, within_km, model, gpu_class, vendor, gpu_memory, tier, isolation, trust,
                       labels, max_price, group, apart, spread, pack, link, link_wanted))
template <>
inline constexpr auto fields<Placement> = std::to_array<Field>({
    {.member = "zones", .help = "Only in one of these zones.", .example = "[\"nj\",\"lon\"]", .max = 64,
     .absent = Absent::fills},
    {.member = "racks", .help = "Only in one of these racks.", .example = "[\"nj-r12\"]", .max = 64,
     .absent = Absent::fills},
    {.member = "hosts", .help = "Only on one of these hosts, by id or name; for operators.",
     .example = "[\"h-4f2a9c\"]", .max = 64, .absent = Absent::fills},
    {.member = "near", .help = "Only near this zone, or this place (LAT,LONG in degrees).", .example = "lon",
     .form = &forms::place},
    {.member = "within_km", .help = "How near, in kilometres; without it 100.", .example = "300", .min = 0,
     .max = 20'040},
    {.member = "model", .help = "Only GPUs of this model, by its words.", .example = "h100", .min = 1, .max = 128,
     .form = &forms::one_line},
    {.member = "gpu_class", .help = "Only GPUs of this class, a family of models.", .example = "H100", .min = 1,
     .max = 128, .form = &forms::one_line},
    {.member = "vendor", .help = "Only GPUs of this vendor.", .example = "nvidia"},
    {.member = "gpu_memory",
     .help = "Only GPUs with at least this memory, by their data sheet; a number without a unit is GiB.",
     .example = "48", .form = &forms::quantity},
    {.member = "tier",
     .help = "Only hosts with GPUs of this measured tier or a higher one: frontier, training, inference, entry.",
     .example = "training"},
    {.member = "isolation", .help = "Only with this isolation from other tenants, as in offers.",
     .example = "user_namespace"},
    {.member = "trust", .help = "Only hosts with at least this trust.", .example = "trusted"},
    {.member = "labels", .help = "Only hosts with each of these labels.", .example = "{\"disk\":\"nvme\"}",
     .max = labels_max, .absent = Absent::fills},
    {.member = "max_price", .help = "Maximum price of a GPU for an hour.", .example = "2.50",
     .form = &forms::money},
    {.member = "group", .help = "The group of its tenant that apart, spread and pack count.", .example = "web",
     .form = &forms::id},
    {.member = "apart", .help = "Not on the host, in the rack or in the zone of another member of its group.",
     .example = "host"},
    {.member = "spread", .help = "Prefer places with the fewest members of its group.", .example = "zone"},
    {.member = "pack", .help = "Prefer places with the most members of its group.", .example = "rack"},
    {.member = "link", .help = "Required link between its GPUs.", .example = "nvlink"},
    {.member = "link_wanted", .help = "Preferred link between its GPUs.",
     .example = "nvlink"},
});
// What is wrong with each label; `path` stands before its name, as "labels.".
void check_labels(const Labels& labels, std::string_view path, Wrong& wrong);
// The same of those that are set: one that is taken away, with an empty value, may have any name.
void check_label_changes(const Labels& changes, std::string_view path, Wrong& wrong);
// What is wrong with it beyond single fields; `path` stands before each, as "placement.".
void check_placement(const Placement& placement, std::string_view path, Wrong& wrong);

struct PlacementTask {
    int count = 1;
    std::optional<std::string> spec_name{};
    std::optional<int> gpus{};
    std::optional<int> gpu_milli{};
    std::optional<std::string> profile{};
    std::optional<std::string> cpu{};
    std::optional<std::string> memory{};
    std::optional<std::string> disk{};
    std::optional<std::string> image{};
    std::optional<Placement> placement{};
};
BOOST_DESCRIBE_STRUCT(PlacementTask, (),
                      (count, spec_name, gpus, gpu_milli, profile, cpu, memory, disk, image, placement))
template <>
inline constexpr auto fields<PlacementTask> = std::to_array<Field>({
    {.member = "count", .help = "Number of such tasks.", .example = "4", .min = 1, .max = 16, .absent = Absent::fills},
    {.member = "spec_name", .help = "Shape of the task. Other fields override it.", .example = "h100-1",
     .form = &forms::id},
    {.member = "gpus", .help = "Whole GPUs on one host.", .example = "2", .min = 0, .max = 16},
    {.member = "gpu_milli", .help = "Thousandths of one GPU, instead of gpus.", .example = "500", .min = 1,
     .max = 999},
    {.member = "profile", .help = "A slice of one GPU (MIG), instead of gpus.", .example = "1g.10gb", .min = 1,
     .max = 32},
    {.member = "cpu", .help = "CPUs.", .example = "8", .form = &forms::quantity},
    {.member = "memory", .help = "Memory.", .example = "32Gi", .form = &forms::quantity},
    {.member = "disk", .help = "Disk for new volumes.", .example = "100Gi", .form = &forms::quantity},
    {.member = "image", .help = "Prefer hosts with this image.", .example = "docker.io/library/nginx:1.27",
     .max = 512, .form = &forms::image},
    {.member = "placement", .help = "Placement constraints."},
});

// POST /v1/placements: one task, or several that are placed all or none.
struct ExplainPlacement {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> spec_name{};
    std::optional<int> gpus{};
    std::optional<int> gpu_milli{};
    std::optional<std::string> profile{};
    std::optional<std::string> cpu{};
    std::optional<std::string> memory{};
    std::optional<std::string> disk{};
    std::optional<std::string> image{};
    Placement placement;
    std::vector<PlacementTask> tasks;
    std::optional<Area> together{};
    std::optional<Area> together_wanted{};
    std::optional<std::string> project{};
};
BOOST_DESCRIBE_STRUCT(ExplainPlacement, (),
                      (tenant_id, spec_name, gpus, gpu_milli, profile, cpu, memory, disk, image, placement, tasks,
                       together, together_wanted, project))
template <>
inline constexpr auto fields<ExplainPlacement> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Tenant that owns the groups and whose quota counts; for an operator's key.", .example = "acme",
     .form = &forms::id},
    {.member = "spec_name", .help = "Shape of the task. Other fields override it.", .example = "h100-1",
     .form = &forms::id},
    {.member = "gpus", .help = "Whole GPUs on one host.", .example = "2", .min = 0, .max = 16},
    {.member = "gpu_milli", .help = "Thousandths of one GPU, instead of gpus.", .example = "500", .min = 1,
     .max = 999},
    {.member = "profile", .help = "A slice of one GPU (MIG), instead of gpus.", .example = "1g.10gb", .min = 1,
     .max = 32},
    {.member = "cpu", .help = "CPUs.", .example = "8", .form = &forms::quantity},
    {.member = "memory", .help = "Memory.", .example = "32Gi", .form = &forms::quantity},
    {.member = "disk", .help = "Disk for new volumes.", .example = "100Gi", .form = &forms::quantity},
    {.member = "image", .help = "Prefer hosts with this image.", .example = "docker.io/library/nginx:1.27",
     .max = 512, .form = &forms::image},
    {.member = "placement", .help = "Placement constraints.", .absent = Absent::fills},
    {.member = "tasks", .help = "Several tasks, placed all or none, instead of the one above.", .max = 16,
     .absent = Absent::fills},
    {.member = "together", .help = "All tasks on one host, in one rack, in one zone.", .example = "rack"},
    {.member = "together_wanted", .help = "The same, as a preference.", .example = "zone"},
    {.member = "project", .help = "Project whose quota counts. Default: default.", .example = "lab",
     .form = &forms::label},
});
inline constexpr int placement_tasks_max = 16;
// At most placement_tasks_max tasks in all; each asks for something, and for its GPUs in one way.
template <>
struct Rules<ExplainPlacement> {
    static void check(const ExplainPlacement& request, Wrong& wrong);
};

struct PlannedTask {
    int task = 0;
    std::string host;
    std::string zone;
    std::vector<std::string> gpus;
    std::optional<int> slice{};
};
BOOST_DESCRIBE_STRUCT(PlannedTask, (), (task, host, zone, gpus, slice))
template <>
inline constexpr auto fields<PlannedTask> = std::to_array<Field>({
    {.member = "task", .help = "Number of the task, from 0. Tasks of one count have consecutive numbers.", .example = "0"},
    {.member = "host", .help = "The host it would go to.", .example = "h-4f2a9c"},
    {.member = "zone", .help = "Zone of the host.", .example = "nj"},
    {.member = "gpus", .help = "Ids of the GPUs it would get."},
    {.member = "slice", .help = "The slice of memory on its GPU where its own slice would begin.", .example = "4"},
});

struct PlacementDenial {
    bool never = false;
    std::vector<ProblemReason> reasons;
    std::string sentence;
    std::string would_help;
    std::vector<int> fitting;
};
BOOST_DESCRIBE_STRUCT(PlacementDenial, (), (never, reasons, sentence, would_help, fitting))
template <>
inline constexpr auto fields<PlacementDenial> = std::to_array<Field>({
    {.member = "never", .help = "No host could take it, even if nothing ran anywhere.", .example = "false"},
    {.member = "reasons", .help = "Reasons, most important first."},
    {.member = "sentence", .help = "The same in words.",
     .example = "No host can take 4 H100 GPUs: 3 hosts have too few GPUs, 1 is cordoned."},
    {.member = "would_help", .help = "The smallest change that would admit it.", .example = "Ask for 2 GPUs."},
    {.member = "fitting", .help = "With several tasks: the number that would fit."},
});

// Idle slots that would give way.
struct StockGivingWay {
    std::string spec_name;
    int slots = 0;
    int gpus = 0;
};
BOOST_DESCRIBE_STRUCT(StockGivingWay, (), (spec_name, slots, gpus))
template <>
inline constexpr auto fields<StockGivingWay> = std::to_array<Field>({
    {.member = "spec_name", .help = "Their spec.", .example = "h100-1"},
    {.member = "slots", .help = "How many of them.", .example = "2"},
    {.member = "gpus", .help = "GPUs that they hold.", .example = "2"},
});

struct PlacementAnswer {
    bool fits = false;
    std::vector<PlannedTask> places;
    std::optional<PlacementDenial> denial{};
    bool from_stock = false;
    std::vector<StockGivingWay> gives_way;
};
BOOST_DESCRIBE_STRUCT(PlacementAnswer, (), (fits, places, denial, from_stock, gives_way))
template <>
inline constexpr auto fields<PlacementAnswer> = std::to_array<Field>({
    {.member = "fits", .help = "There is room for all of it now.", .example = "true"},
    {.member = "places", .help = "Where each task would go."},
    {.member = "denial", .help = "Why there is none."},
    {.member = "from_stock", .help = "It would take an idle slot of its spec.", .example = "false"},
    {.member = "gives_way", .help = "Idle stock that would be reclaimed for it on that host, by spec."},
});

}  // namespace hostler::api
