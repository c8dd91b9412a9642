#include "adapters/docker/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace hostler::docker {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t context_bytes_max = 16 << 20;

Result<std::string> text_of(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    std::stringstream text;
    if (file) text << file.rdbuf();
    if (!file) return fail(Code::unavailable, fmt::format("cannot read {}", path.string()));
    return std::move(text).str();
}

// What the first FROM names; "scratch" is nothing.
std::string base_of(const std::string& containerfile) {
    std::istringstream lines{containerfile};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::string word, name;
        if (words >> word >> name && word == "FROM") return name == "scratch" ? "" : name;
    }
    return {};
}

Result<Recipe> read_recipe(const fs::path& folder) {
    Recipe made{.folder = folder};
    std::istringstream words{TRY(text_of(folder / "image"))};
    words >> made.image;
    if (made.image.empty())
        return fail(Code::invalid, fmt::format("{} names no image", (folder / "image").string()));
    made.root_file_system = fs::exists(folder / "rootfs.sh");
    if (made.root_file_system) return made;
    if (!fs::exists(folder / "Containerfile"))
        return fail(Code::invalid,
                    fmt::format("{} has neither a Containerfile nor a rootfs.sh", folder.string()));
    made.base = base_of(TRY(text_of(folder / "Containerfile")));
    return made;
}

}  // namespace

Result<std::vector<Recipe>> read_recipes(const fs::path& folder) {
    std::vector<Recipe> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{folder, error})
        if (fs::exists(entry.path() / "image")) found.push_back(TRY(read_recipe(entry.path())));
    if (error)
        return fail(Code::invalid, fmt::format("the folder of recipes {} cannot be read: {}", folder.string(),
                                               error.message()));
    std::ranges::sort(found, {}, &Recipe::folder);
    return found;
}

const Recipe* find_recipe(const std::vector<Recipe>& recipes, std::string_view image) {
    const auto found = std::ranges::find(recipes, image, &Recipe::image);
    return found == recipes.end() ? nullptr : &*found;
}

Result<std::string> context_of(const Recipe& recipe, std::vector<ArchiveFile> more) {
    std::vector<ArchiveFile> files = std::move(more);
    std::size_t bytes = 0;
    for (const auto& file : files) bytes += file.content.size();
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{recipe.folder, error}) {
        if (!entry.is_regular_file(error)) continue;
        const bool runs = (entry.status(error).permissions() & fs::perms::owner_exec) != fs::perms::none;
        files.push_back({entry.path().filename().string(), TRY(text_of(entry.path())), runs ? 0755U : 0644U});
        bytes += files.back().content.size();
    }
    if (error) return fail(Code::unavailable, fmt::format("cannot read {}", recipe.folder.string()));
    if (bytes > context_bytes_max)
        return fail(Code::invalid, fmt::format("the files of {} are more than {} MiB", recipe.folder.string(),
                                               context_bytes_max >> 20));
    std::ranges::sort(files, {}, &ArchiveFile::name);  // The same files are the same archive.
    return archive_of(files);
}

}  // namespace hostler::docker
