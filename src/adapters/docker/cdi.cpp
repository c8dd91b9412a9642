#include "adapters/docker/cdi.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace hostler::docker {

namespace {

namespace fs = std::filesystem;

Result<std::string> read_file(const fs::path& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error) return fail(Code::unavailable, error.message());
    if (size > cdi_file_bytes_max) return fail(Code::invalid, "it is too large");
    std::ifstream file{path, std::ios::binary};
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file && !file.eof()) return fail(Code::unavailable, "it cannot be read");
    return text;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

void merge(CdiEdits& into, const CdiEdits& from) {
    append(into.environment, from.environment);
    for (const auto& node : from.nodes) {
        std::erase_if(into.nodes, [&](const CdiNode& other) { return other.path == node.path; });
        into.nodes.push_back(node);
    }
    for (const auto& mount : from.mounts) {
        std::erase_if(into.mounts, [&](const CdiMount& other) { return other.path == mount.path; });
        into.mounts.push_back(mount);
    }
    append(into.hooks, from.hooks);
    append(into.groups, from.groups);
    append(into.library_folders, from.library_folders);
    append(into.warnings, from.warnings);
}

// The values of a repeated option: "--folder a --folder=b".
std::vector<std::string> options(const CdiHook& hook, std::string_view name) {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < hook.arguments.size(); ++i) {
        const std::string_view argument = hook.arguments[i];
        if (argument == name && i + 1 < hook.arguments.size())
            found.push_back(hook.arguments[++i]);
        else if (argument.starts_with(name) && argument.substr(name.size()).starts_with('='))
            found.emplace_back(argument.substr(name.size() + 1));
    }
    return found;
}

// A link inside the container becomes a second mount of the file that it ends at. Links may lead to links, in
// whichever order the hooks name them.
void make_links(CdiEdits& edits, std::vector<std::pair<std::string, std::string>> links) {
    bool progress = true;
    while (progress && !links.empty()) {
        progress = false;
        for (auto link = links.begin(); link != links.end();) {
            const auto& [target, path] = *link;
            const auto full = (fs::path(path).parent_path() / target).lexically_normal().string();
            const auto mount = std::ranges::find(edits.mounts, full, &CdiMount::path);
            if (mount == edits.mounts.end()) {
                ++link;
                continue;
            }
            if (std::ranges::find(edits.mounts, path, &CdiMount::path) == edits.mounts.end())
                edits.mounts.push_back(CdiMount{mount->host_path, path, mount->options});
            link = links.erase(link);
            progress = true;
        }
    }
    for (const auto& [target, path] : links)
        edits.warnings.push_back(
            fmt::format("CDI link {} is left out: nothing is mounted at its target {}", path, target));
}

// Hooks run outside the container, which no engine's API offers; NVIDIA's usual ones have an equivalent.
void translate_hooks(CdiEdits& edits) {
    std::vector<std::pair<std::string, std::string>> links;
    for (const auto& hook : edits.hooks) {
        const auto has = [&](std::string_view name) {
            return std::ranges::find(hook.arguments, name) != hook.arguments.end();
        };
        if (has("update-ldcache")) {
            for (auto& folder : options(hook, "--folder"))
                if (folder.starts_with('/') &&
                    std::ranges::find(edits.library_folders, folder) == edits.library_folders.end())
                    edits.library_folders.push_back(std::move(folder));
        } else if (has("create-symlinks")) {
            for (const auto& link : options(hook, "--link"))
                if (const auto colons = link.find("::"); colons != std::string::npos)
                    links.emplace_back(link.substr(0, colons), link.substr(colons + 2));
        } else {
            const auto name = hook.arguments.size() > 1 ? hook.arguments.back() : hook.path;
            edits.warnings.push_back(
                fmt::format("CDI hook {} ({}) is left out: the engine's API has no hooks", hook.path, name));
        }
    }
    make_links(edits, std::move(links));
    edits.hooks.clear();
}

}  // namespace

Cdi Cdi::load(std::span<const std::string> folders) {
    Cdi cdi;
    int priority = 0;
    for (const auto& folder : folders) {
        ++priority;
        std::vector<fs::path> paths;
        std::error_code error;
        for (fs::directory_iterator it{folder, error}, end; !error && it != end; it.increment(error)) {
            const auto extension = it->path().extension();
            if (extension == ".json" || extension == ".yaml") paths.push_back(it->path());
        }
        std::ranges::sort(paths);
        for (const auto& path : paths) {
            auto text = read_file(path);
            auto file = !text                         ? Result<CdiFile>(std::unexpected(text.error()))
                        : path.extension() == ".json" ? parse_cdi_json(*text)
                                                      : parse_cdi_yaml(*text);
            if (!file) {
                cdi.skipped_.push_back(
                    fmt::format("{} is not used: {}", path.string(), file.error().message));
                continue;
            }
            file->path = path.string();
            file->priority = priority;
            cdi.files_.push_back(std::move(*file));
        }
    }
    return cdi;
}

Result<CdiEdits> Cdi::resolve(std::span<const std::string> names) const {
    CdiEdits edits;
    std::set<const CdiFile*> used;
    for (const auto& name : names) {
        const auto equals = name.find('=');
        if (name.find('/') == std::string::npos || equals == std::string::npos)
            return fail(Code::invalid, fmt::format("CDI device '{}' is not named vendor/class=device", name));
        const auto kind = name.substr(0, equals);
        const auto device = name.substr(equals + 1);
        const CdiFile* best = nullptr;
        const CdiFile* rival = nullptr;
        for (const auto& file : files_) {
            if (file.kind != kind || !file.devices.contains(device)) continue;
            if (best && best->priority > file.priority) continue;
            rival = best && best->priority == file.priority ? best : nullptr;
            best = &file;
        }
        if (!best) {
            return fail(Code::not_found,
                        fmt::format("CDI device {} is not on this host: no CDI file defines it{}", name,
                                    skipped_.empty() ? "" : "; " + skipped_.front()));
        }
        if (rival)
            return fail(Code::conflict, fmt::format("CDI device {} is defined by both {} and {}", name,
                                                    rival->path, best->path));
        if (used.insert(best).second) merge(edits, best->common);
        merge(edits, best->devices.at(device));
    }
    translate_hooks(edits);
    return edits;
}

std::vector<std::string> Cdi::names() const {
    std::set<std::string> found;
    for (const auto& file : files_)
        for (const auto& [name, unused] : file.devices) found.insert(file.kind + "=" + name);
    return {found.begin(), found.end()};
}

}  // namespace hostler::docker
