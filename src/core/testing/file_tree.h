// For tests: a folder of its own that is gone afterwards, to be filled like /sys or /proc.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::testing {

class FileTree {
public:
    FileTree() {
        std::string pattern = (std::filesystem::temp_directory_path() / "hostler-test-XXXXXX").string();
        HOSTLER_ASSERT(mkdtemp(pattern.data()) != nullptr);
        root_ = pattern;
    }
    ~FileTree() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }
    FileTree(const FileTree&) = delete;
    FileTree& operator=(const FileTree&) = delete;

    const std::string& path() const { return root_; }
    std::string path(std::string_view name) const { return root_ + "/" + std::string{name}; }
    // Makes the folders on the way.
    void write(std::string_view name, std::string_view text) {
        std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
        std::ofstream{path(name), std::ios::binary} << text;
    }
    // `target` is within the tree too; it need not exist.
    void link(std::string_view name, std::string_view target) {
        std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
        std::filesystem::create_symlink(path(target), path(name));
    }
    void remove(std::string_view name) { std::filesystem::remove_all(path(name)); }

private:
    std::string root_;
};

}  // namespace hostler::testing
