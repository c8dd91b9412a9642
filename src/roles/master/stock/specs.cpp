#include "roles/master/stock/specs.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_spec.h"
#include "core/counted.h"
#include "core/quantity.h"
#include "roles/master/state/near.h"

namespace hostler::master {

namespace {

Result<> fill_shape(Spec& spec, const api::CreateSpec& from) {
    spec.cpu = from.cpu;
    spec.memory = from.memory;
    spec.gpu_type = from.gpu_type;
    spec.gpu_count = from.gpu_num;
    spec.cpu_milli = TRY(parse_quantity(spec.cpu)).milli;
    spec.memory_bytes = TRY(parse_quantity(spec.memory)).units();
    return {};
}

bool same_shape(const Spec& a, const Spec& b) {
    return a.cpu_milli == b.cpu_milli && a.memory_bytes == b.memory_bytes && a.gpu_type == b.gpu_type &&
           a.gpu_count == b.gpu_count;
}

Result<> check_unused(const Desk& desk, const std::string& name) {
    const std::size_t slots = desk.estate.slots.by().spec.count(name);
    const std::size_t instances = desk.estate.instances.by().spec.count(name);
    if (slots + instances == 0) return {};
    Error error{Code::conflict,
                fmt::format("spec {} still has {} and {}", name, counted(slots, "stock slot"),
                            counted(instances, "instance")),
                "spec_in_use"};
    error.help = fmt::format(
        "Take its stock away (hostler stock delete {}), stop its instances, and wait a minute after the last "
        "has "
        "ended.",
        name);
    return std::unexpected(std::move(error));
}

}  // namespace

Result<const Spec*> spec_named(const Desk& desk, const std::string& name) {
    if (const Spec* spec = desk.estate.specs.find(name)) return spec;
    return fail(Code::not_found, no_such_in(desk.estate.specs, "spec", name), "spec_not_found");
}

Result<Spec> new_spec(const Desk& desk, const api::CreateSpec& request) {
    Spec spec{.name = request.name, .created_at = desk.estate.micros()};
    TRY(fill_shape(spec, request));
    return spec;
}

void add_spec(Desk& desk, Spec spec) {
    desk.estate.event("spec", spec.name, "", "created", fmt::format("Spec {} was created.", spec.name));
    desk.estate.specs.add(std::move(spec));
}

Result<const Spec*> create_spec(Desk& desk, const api::CreateSpec& request) {
    Spec spec = TRY(new_spec(desk, request));
    if (const Spec* known = desk.estate.specs.find(request.name)) {
        if (same_shape(*known, spec)) return known;
        Error error{Code::conflict,
                    fmt::format("spec {} exists with other values: cpu {}, memory {}, {} x {}", known->name,
                                known->cpu, known->memory, known->gpu_count, known->gpu_type),
                    "spec_differs"};
        error.help = "Use another name, or change the one that there is: hostler spec edit.";
        return std::unexpected(std::move(error));
    }
    add_spec(desk, std::move(spec));
    return &desk.estate.specs.at(request.name);
}

Result<const Spec*> update_spec(Desk& desk, const api::UpdateSpec& request) {
    const Spec* now = TRY(spec_named(desk, request.spec));
    Spec wanted = *now;
    TRY(fill_shape(wanted, {.name = now->name,
                            .cpu = request.cpu.value_or(now->cpu),
                            .memory = request.memory.value_or(now->memory),
                            .gpu_type = request.gpu_type.value_or(now->gpu_type),
                            .gpu_num = request.gpu_num.value_or(now->gpu_count)}));
    if (same_shape(*now, wanted)) return now;
    TRY(check_unused(desk, request.spec));
    desk.estate.specs.edit(request.spec) = std::move(wanted);
    desk.estate.event("spec", request.spec, "", "changed", fmt::format("Spec {} was changed.", request.spec));
    return &desk.estate.specs.at(request.spec);
}

Result<> delete_spec(Desk& desk, const std::string& name) {
    TRY(spec_named(desk, name));
    TRY(check_unused(desk, name));
    if (desk.estate.stock_images.find(name)) desk.estate.stock_images.erase(name);
    desk.estate.event("spec", name, "", "deleted", fmt::format("Spec {} was deleted.", name));
    desk.estate.specs.erase(name);
    return {};
}

}  // namespace hostler::master
