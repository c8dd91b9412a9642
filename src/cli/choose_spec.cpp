#include "cli/choose_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace hostler::cli {

namespace {

// "H100_SXM5-80GB" → h100, sxm5, 80gb
std::vector<std::string> model_words(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        const bool apart = c == ' ' || c == '_' || c == '-' || c == ',';
        if (apart && !words.back().empty()) words.emplace_back();
        if (!apart) words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

bool is_model(std::string_view asked, std::string_view model) {
    const std::vector<std::string> has = model_words(model);
    return std::ranges::all_of(model_words(asked), [&](const std::string& word) {
        return std::ranges::find(has, word) != has.end();
    });
}

struct Candidate {
    const api::Spec* spec = nullptr;
    Quantity cpu, memory;
    int lacks = 0;  // So many of the things that are asked.
    auto size() const { return std::tuple{spec->gpu_num, cpu, memory, std::string_view{spec->name}}; }
};

Candidate candidate(const api::Spec& spec, const Shape& asked) {
    Candidate one{.spec = &spec};
    one.cpu = parse_quantity(spec.cpu).value_or(Quantity{});
    one.memory = parse_quantity(spec.memory).value_or(Quantity{});
    one.lacks = (asked.gpus && *asked.gpus != spec.gpu_num ? 1 : 0) +
                (is_model(asked.gpu_type, spec.gpu_type) ? 0 : 1) +
                (asked.cpu && one.cpu < *asked.cpu ? 1 : 0) +
                (asked.memory && one.memory < *asked.memory ? 1 : 0);
    return one;
}

std::string asked_in_words(const Shape& asked) {
    std::vector<std::string> parts;
    if (asked.gpus) parts.push_back(fmt::format("{} GPU{}", *asked.gpus, *asked.gpus == 1 ? "" : "s"));
    if (!asked.gpu_type.empty()) parts.push_back(fmt::format("model {}", asked.gpu_type));
    if (asked.cpu) parts.push_back(fmt::format("{} CPUs", to_string(*asked.cpu)));
    if (asked.memory) parts.push_back(fmt::format("{} of memory", to_string(*asked.memory)));
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Result<std::string> choose_spec(const std::vector<api::Spec>& specs, const Shape& asked) {
    if (specs.empty()) return fail(Code::invalid, "the cloud has no spec", "no_spec");
    std::vector<Candidate> all;
    for (const api::Spec& spec : specs) all.push_back(candidate(spec, asked));
    std::ranges::sort(all, {}, [&](const Candidate& one) {
        const std::int64_t apart = std::llabs(one.spec->gpu_num - asked.gpus.value_or(one.spec->gpu_num));
        return std::tuple_cat(std::tuple{one.lacks, apart}, one.size());
    });
    const Candidate& best = all.front();
    if (best.lacks == 0) return best.spec->name;
    const api::Spec& near = *best.spec;
    Error error{.code = Code::invalid,
                .message = fmt::format("no spec has {}; the nearest is {}: {} × {}, {} CPUs, {} of memory",
                                       asked_in_words(asked), near.name, near.gpu_num, near.gpu_type,
                                       near.cpu, near.memory),
                .reason = "no_spec"};
    error.help = fmt::format("--spec {}; `hostler spec list` shows all", near.name);
    return std::unexpected(std::move(error));
}

}  // namespace hostler::cli
