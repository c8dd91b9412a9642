#include "domain/quota/resource.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/quantity.h"
#include "domain/quota/quota.h"

namespace hostler {

namespace {

// Sums of all projects of a tenant fit into 64 bits.
constexpr std::int64_t amount_max = std::int64_t{1} << 53;
constexpr std::size_t resource_length_max = 128;

bool is_class(std::string_view resource) { return resource.starts_with(gpu_class_prefix); }
bool is_bytes(std::string_view resource) { return resource == "memory" || resource == "volumes"; }
bool is_cpu(std::string_view resource) { return resource == "cpu"; }

}  // namespace

std::string wrong_resource(std::string_view resource) {
    if (resource.size() > resource_length_max)
        return fmt::format("must have at most {} characters", resource_length_max);
    if (is_class(resource)) {
        const bool printable =
            std::ranges::all_of(resource, [](char c) { return static_cast<unsigned char>(c) >= ' '; });
        if (!printable) return "must have no control characters";
        return resource_key(resource) == gpu_class_prefix ? "names no GPU model: write gpus:MODEL" : "";
    }
    if (std::ranges::count(quota_resources, resource) > 0) return {};
    return "is not limited by quotas: they limit gpus, gpus:MODEL, cpu, memory, volumes, instances, jobs and "
           "clusters";
}

Result<std::int64_t> parse_amount(std::string_view resource, std::string_view text) {
    const Quantity quantity = TRY(parse_quantity(text));
    if (quantity.milli < 0) return fail(Code::invalid, "must not be below zero");
    const bool whole = !is_cpu(resource) && !is_bytes(resource);
    if (whole && quantity.milli % 1000 != 0) return fail(Code::invalid, "must be a whole number");
    const std::int64_t amount = is_cpu(resource) ? quantity.milli : quantity.units();
    if (amount > amount_max)
        return fail(Code::invalid, fmt::format("must be at most {}", amount_text(resource, amount_max)));
    return amount;
}

std::string amount_text(std::string_view resource, std::int64_t amount) {
    return to_string(is_cpu(resource) ? Quantity{amount} : Quantity::of_units(amount));
}

std::string amount_in_words(std::string_view resource, std::int64_t amount) {
    const std::string text = amount_text(resource, amount);
    const std::string_view s = text == "1" ? "" : "s";
    if (is_class(resource))
        return fmt::format("{} GPU{} of model {}", text, s, resource.substr(gpu_class_prefix.size()));
    if (resource == gpus_resource) return fmt::format("{} GPU{}", text, s);
    if (is_cpu(resource)) return fmt::format("{} CPU{}", text, s);
    if (resource == "memory") return fmt::format("{} of memory", text);
    if (resource == "volumes") return fmt::format("{} of volumes", text);
    if (resource == "instances") return fmt::format("{} instance{}", text, s);
    if (resource == "clusters") return fmt::format("{} cluster{}", text, s);
    if (resource == "jobs") return fmt::format("{} job{}", text, s);
    return fmt::format("{} of {}", text, resource);
}

}  // namespace hostler
