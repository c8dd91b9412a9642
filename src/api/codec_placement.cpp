#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_placement.h"
#include "domain/scheduler/wishes.h"

namespace hostler::api {

namespace {

std::string check_spot(std::string_view text) {
    const auto spot = parse_spot(text);
    return spot ? "" : spot.error().message;
}

std::string check_label_filter(std::string_view text) {
    const auto filter = parse_label_filter(text);
    return filter ? "" : filter.error().message;
}

std::string check_place(std::string_view text) {
    if (text.contains(',')) return check_spot(text);
    return forms::label.check(text).empty()
               ? ""
               : "must be a zone's name, or LAT,LONG in degrees, as 40.73,-74.17";
}

// One of a request's own tasks, and what it is called.
void check_task(const PlacementTask& task, const std::string& path, Wrong& wrong) {
    const int ways = (task.gpus ? 1 : 0) + (task.gpu_milli ? 1 : 0) + (task.profile ? 1 : 0);
    if (ways > 1)
        wrong.push_back(
            {path + (task.profile ? "profile" : "gpuMilli"), "only one of gpus, gpuMilli and profile"});
    if (ways == 0 && !task.spec_name && !task.cpu && !task.memory && !task.disk)
        wrong.push_back({path + "gpus",
                         "nothing is asked for: say specName, gpus, gpuMilli, profile, cpu, memory or disk"});
    if (task.placement) check_placement(*task.placement, path + "placement.", wrong);
}

}  // namespace

namespace forms {
constinit const Form label_filter{"label-filter", "", &check_label_filter};
constinit const Form place{"place", "", &check_place};
constinit const Form spot{"spot", "", &check_spot};
}  // namespace forms

void check_placement(const Placement& placement, std::string_view path, Wrong& wrong) {
    const auto no = [&](std::string_view field, std::string what) {
        wrong.push_back({fmt::format("{}{}", path, field), std::move(what)});
    };
    if (placement.within_km && !placement.near) no("withinKm", "is how near, and near is not given");
    if (placement.spread && placement.pack) no("pack", "only one of spread and pack");
    if (!placement.group) {
        constexpr std::string_view what = "counts those of a group, and group is not given";
        if (placement.apart) no("apart", std::string{what});
        if (placement.spread) no("spread", std::string{what});
        if (placement.pack) no("pack", std::string{what});
    }
    check_labels(placement.labels, fmt::format("{}labels.", path), wrong);
}

void check_labels(const Labels& labels, std::string_view path, Wrong& wrong) {
    for (const auto& [name, value] : labels)
        for (std::string what : {wrong_label_name(name), wrong_label_value(value)})
            if (!what.empty()) wrong.push_back({fmt::format("{}{}", path, name), std::move(what)});
}

void check_label_changes(const Labels& changes, std::string_view path, Wrong& wrong) {
    Labels set = changes;
    std::erase_if(set, [](const auto& label) { return label.second.empty(); });
    check_labels(set, path, wrong);
}

void Rules<ExplainPlacement>::check(const ExplainPlacement& request, Wrong& wrong) {
    const bool one = request.spec_name || request.gpus || request.gpu_milli || request.profile ||
                     request.cpu || request.memory || request.disk || request.image ||
                     request.placement != Placement{};
    if (request.tasks.empty()) {
        check_task({.spec_name = request.spec_name,
                    .gpus = request.gpus,
                    .gpu_milli = request.gpu_milli,
                    .profile = request.profile,
                    .cpu = request.cpu,
                    .memory = request.memory,
                    .disk = request.disk,
                    .placement = request.placement},
                   "", wrong);
        return;
    }
    if (one) wrong.push_back({"tasks", "either these, or one task without them"});
    int count = 0;
    for (std::size_t i = 0; i < request.tasks.size(); ++i) {
        check_task(request.tasks[i], fmt::format("tasks[{}].", i), wrong);
        count += request.tasks[i].count;
    }
    if (count > placement_tasks_max)
        wrong.push_back(
            {"tasks", fmt::format("at most {} in all, and these are {}", placement_tasks_max, count)});
}

}  // namespace hostler::api

HOSTLER_JSON(hostler::api::Placement)
HOSTLER_JSON(hostler::api::PlacementTask)
HOSTLER_JSON(hostler::api::ExplainPlacement)
HOSTLER_JSON(hostler::api::PlannedTask)
HOSTLER_JSON(hostler::api::PlacementDenial)
HOSTLER_JSON(hostler::api::PlacementAnswer)

namespace hostler::api {

ApiArea placement_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &explain_placement,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"placement", "Where tasks would go, and why some have no place."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
