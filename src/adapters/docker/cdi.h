// Container Device Interface: what "nvidia.com/gpu=0" means in devices, mounts and environment. Engines
// differ in whether they understand CDI, and some ignore it silently; so its files are read here and resolved
// into what every engine does.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace hostler::docker {

struct CdiNode {
    std::string path;  // In the container.
    std::string host_path;
    std::string permissions;  // Of "rwm".
    // Once it was looked for on this host:
    std::string source{};  // What is mounted: the host's node, or ours of the same device.
    char kind = 'c';       // 'b' for a block device.
    unsigned major = 0;
    unsigned minor = 0;
    bool operator==(const CdiNode&) const = default;
};

struct CdiMount {
    std::string host_path;
    std::string path;
    std::vector<std::string> options;
    bool operator==(const CdiMount&) const = default;
};

struct CdiHook {
    std::string name;
    std::string path;
    std::vector<std::string> arguments;  // The first is the program's own name.
};

// What is done to a container for its devices.
struct CdiEdits {
    std::vector<std::pair<std::string, std::string>> environment;  // In order; the last of a name counts.
    std::vector<CdiNode> nodes;
    std::vector<CdiMount> mounts;
    std::vector<CdiHook> hooks;
    std::vector<std::int64_t> groups;
    std::vector<std::string> library_folders;  // Where the container's linker should look, too.
    std::vector<std::string> warnings;         // What an engine's API cannot express, a sentence each.
};

struct CdiFile {
    std::string path;
    int priority = 0;
    std::string kind;  // "nvidia.com/gpu"
    CdiEdits common;   // For every device of the file.
    std::map<std::string, CdiEdits> devices;
};

// Versions 0.3.0 to 1.1.0 of the specification. Errors: invalid, with what is wrong where.
Result<CdiFile> parse_cdi_json(std::string_view text);
Result<CdiFile> parse_cdi_yaml(std::string_view text);

// A folder's files, folder by folder; a later folder wins over an earlier one.
class Cdi {
public:
    static Cdi load(std::span<const std::string> folders);

    void add(CdiFile file) { files_.push_back(std::move(file)); }
    // Each qualified name ("vendor/class=device") with its file's common edits, hooks already translated.
    // Errors: invalid (not a qualified name), not_found, conflict (two files of one folder define it).
    Result<CdiEdits> resolve(std::span<const std::string> names) const;
    std::vector<std::string> names() const;
    // Files left out, with the reason, a sentence each.
    const std::vector<std::string>& skipped() const { return skipped_; }

private:
    std::vector<CdiFile> files_;
    std::vector<std::string> skipped_;
};

inline constexpr std::size_t cdi_file_bytes_max = 4 << 20;

}  // namespace hostler::docker
