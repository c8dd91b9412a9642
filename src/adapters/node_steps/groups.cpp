#include "adapters/node_steps/groups.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/control_groups.h"

namespace hostler::node_steps {

namespace {

// FNV-1a: the same for the same folder in every life of an agent.
std::uint32_t mark_of(std::string_view text) {
    std::uint32_t hash = 0x811c9dc5;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
    return hash;
}

}  // namespace

std::string plain(std::string_view name) {
    std::string made;
    for (const char c : name) {
        const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
        made += letter || (!made.empty() && (c == '.' || c == '-' || c == '_')) ? c : '_';
    }
    if (made.empty() || made[0] == '_') made.insert(0, "x");
    return made;
}

std::vector<std::string> group_folders(const StepSettings& settings, const std::string& name) {
    std::vector<std::string> folders;
    for (const Hierarchy& in : find_hierarchies())
        if (in.unified || in.controllers.contains("freezer"))
            folders.push_back(fmt::format("{}/{}/{:08x}.{}", in.path, settings.group_parent,
                                          mark_of(settings.folder), plain(name)));
    return folders;
}

std::vector<std::string> groups_named(const StepSettings& settings, const std::string& name,
                                      const std::vector<std::string>& endings) {
    std::vector<std::string> found;
    for (const std::string& beginning : group_folders(settings, name)) {
        const std::string parent = beginning.substr(0, beginning.rfind('/'));
        std::error_code none;
        for (std::filesystem::directory_iterator at{parent, none}, end; !none && at != end;
             at.increment(none)) {
            const std::string path = at->path().string();
            const bool ends = std::ranges::any_of(
                endings, [&](const std::string& ending) { return path.ends_with("." + ending); });
            if (ends && path.starts_with(beginning + ".")) found.push_back(path);
        }
    }
    return found;
}

std::vector<std::string> make_groups(const std::vector<std::string>& folders) {
    std::vector<std::string> made;
    for (const std::string& folder : folders)
        if (make_group_folder(folder.substr(0, folder.rfind('/'))) && make_group_folder(folder))
            made.push_back(folder);
    return made;
}

bool end_groups(const std::vector<std::string>& folders) {
    constexpr int rounds_max = 100;
    std::vector<std::string> all;
    for (const std::string& folder : folders)
        for (std::string& one : groups_below(folder)) all.push_back(std::move(one));
    if (all.empty()) return true;
    const bool ended = kill_groups(all, rounds_max);
    remove_groups(all);
    return ended;
}

}  // namespace hostler::node_steps
