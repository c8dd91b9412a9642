#include "bin/operator_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "bin/process.h"
#include "core/log.h"

namespace hostler::bin {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "hk_";
constexpr std::size_t size_min = 32, size_max = 512;

bool is_key(std::string_view text) {
    return text.starts_with(prefix) && text.size() >= size_min && text.size() <= size_max &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

Result<std::string> read_operator_key(const fs::path& folder) {
    const fs::path file = folder / operator_key_file;
    std::error_code error;
    if (!fs::exists(file, error)) return "";
    std::string key = read_file(file);
    key.erase(
        std::find_if_not(key.rbegin(), key.rend(), [](char c) { return c == '\n' || c == '\r'; }).base(),
        key.end());
    if (is_key(key)) return key;
    return fail(
        Code::invalid,
        fmt::format("the file {} is damaged: it must hold the operator's key, \"{}\" and then {} letters, "
                    "digits or signs at least. Put it back from a copy, or remove it and start again",
                    file.string(), prefix, size_min - prefix.size()),
        "operator_key_damaged");
}

void tell_of_another_key(const fs::path& folder, const std::string& key, const Digest& digest) {
    const fs::path file = folder / operator_key_file, before = file.string() + ".sha256";
    const std::string hash = key.empty() ? "" : digest.sha256(key);
    const std::string known = read_file(before);
    if (known == hash) return;
    if (!known.empty())
        log_warn("{} {}: the previous operator's key is refused now", file.string(),
                 key.empty() ? "is gone" : "holds another key than at the start before");
    if (const auto written = write_file(before, hash); !written) log_warn("{}", written.error().message);
}

}  // namespace hostler::bin
