#include "domain/quota/quota.h"

namespace hostler {

std::string resource_key(std::string_view resource) {
    if (!resource.starts_with(gpu_class_prefix)) return std::string{resource};
    std::string key{gpu_class_prefix};
    bool parted = false;
    for (char c : resource.substr(gpu_class_prefix.size())) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == ' ' || c == '-' || c == '_' || c == '/') {
            parted = true;
            continue;
        }
        if (parted && key.size() > gpu_class_prefix.size()) key += ' ';
        parted = false;
        key += c;
    }
    return key;
}

}  // namespace hostler
