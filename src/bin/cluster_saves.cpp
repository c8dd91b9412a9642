#include "bin/cluster_saves.h"

#include <fmt/format.h>

#include <filesystem>

namespace hostler::bin {

namespace fs = std::filesystem;

Result<std::string> saves_folder(const std::string& given, bool clusters) {
    if (given.empty()) return given;
    const auto refuse = [&](std::string_view why) {
        return fail(Code::invalid, fmt::format("--cluster-saves {}: {}", given, why));
    };
    if (!clusters) return refuse("needs --clusters");
    const fs::path folder{given};
    if (!folder.is_absolute()) return refuse("must be an absolute path");
    std::error_code error;
    const fs::file_status found = fs::status(folder, error);
    if (!fs::is_directory(found)) return refuse("is no folder that is there; create or mount it first");
    constexpr auto others = fs::perms::group_all | fs::perms::others_all;
    if ((found.permissions() & others) != fs::perms::none)
        return refuse("others than its owner may use it, and saves hold keys: chmod 700");
    std::string name = folder.lexically_normal().string();
    while (name.size() > 1 && name.ends_with('/')) name.pop_back();
    return name;
}

}  // namespace hostler::bin
