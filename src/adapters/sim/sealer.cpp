#include "adapters/sim/sealer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "adapters/sim/authority.h"

namespace hostler::sim {

namespace {

constexpr std::size_t tag_size = 16;

std::string tag_of(std::string_view key, std::string_view place, std::string_view plain) {
    return hash_hex(fmt::format("{}\n{}\n{}{}", key, place.size(), place, plain)).substr(0, tag_size);
}

}  // namespace

Result<std::string> SimSealer::make() {
    if (keys_.size() >= keys_max) return fail(Code::exhausted, "there are too many sealing keys");
    return keys_.emplace_back(fmt::format("{:016x}", dice_.next()));
}

Result<> SimSealer::forget(std::string key) {
    std::erase(keys_, key);
    return {};
}

Result<> SimSealer::check(std::string_view key) const {
    if (std::ranges::count(keys_, key) > 0) return {};
    return fail(Code::not_found, fmt::format("there is no sealing key {}", key));
}

Result<std::string> SimSealer::seal(std::string_view key, std::string_view place,
                                    std::string_view plain) const {
    TRY(check(key));
    std::string text = tag_of(key, place, plain);
    for (const char c : plain) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return text;
}

Result<std::string> SimSealer::open(std::string_view key, std::string_view place,
                                    std::string_view sealed) const {
    TRY(check(key));
    const auto wrong = [] {
        return fail(Code::unauthenticated, "it was sealed for another place, or was changed");
    };
    if (sealed.size() < tag_size || sealed.size() % 2 != 0) return wrong();
    std::string plain;
    for (std::size_t at = tag_size; at < sealed.size(); at += 2) {
        unsigned value = 0;
        const char* end = sealed.data() + at + 2;
        if (std::from_chars(sealed.data() + at, end, value, 16).ptr != end) return wrong();
        plain += static_cast<char>(value);
    }
    if (tag_of(key, place, plain) != sealed.substr(0, tag_size)) return wrong();
    return plain;
}

}  // namespace hostler::sim
