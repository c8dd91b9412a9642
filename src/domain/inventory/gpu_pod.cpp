#include "domain/inventory/gpu_pod.h"

#include <algorithm>
#include <string_view>

namespace hostler {

namespace {

constexpr std::size_t label_max = 63, name_max = 253;

bool is_word(std::string_view text) {
    const auto ends = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return !text.empty() && ends(text.front()) && ends(text.back()) &&
           std::ranges::all_of(text, [&](char c) { return ends(c) || c == '-'; });
}

bool is_label(std::string_view text) { return text.size() <= label_max && is_word(text); }

// Words with dots between them.
bool is_name(std::string_view text) {
    if (text.size() > name_max) return false;
    while (true) {
        const auto dot = text.find('.');
        if (!is_word(text.substr(0, dot))) return false;
        if (dot == text.npos) return true;
        text.remove_prefix(dot + 1);
    }
}

}  // namespace

bool is_valid(const GpuPod& pod) {
    return is_label(pod.pod_namespace) && is_name(pod.name) &&
           (pod.container.empty() || is_label(pod.container));
}

}  // namespace hostler
