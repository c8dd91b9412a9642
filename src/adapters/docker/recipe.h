// How images are made that no registry has: folders of files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "adapters/docker/image.h"
#include "core/result.h"

namespace hostler::docker {

// A folder with a file `image` (one line, the name of what it makes) and one of:
//  - Containerfile, with the files that it copies: the engine builds it;
//  - rootfs.sh, a program that writes the archive of a root file system to its argument: the engine imports
//  it.
struct Recipe {
    std::string image;  // "localhost/hostler/jupyter:1"
    std::filesystem::path folder;
    std::string base;  // What its Containerfile begins from; empty: nothing.
    bool root_file_system = false;
};

// The folders of `folder` that are recipes, in the order of their names. Errors: invalid, naming the folder:
// it cannot be read, no image is named, neither a Containerfile nor a rootfs.sh.
Result<std::vector<Recipe>> read_recipes(const std::filesystem::path& folder);

const Recipe* find_recipe(const std::vector<Recipe>& recipes, std::string_view image);

// What is sent to the engine: the folder's files, which are not many, and `more`, as an archive. Errors:
// unavailable; invalid: they are more than 16 MiB.
Result<std::string> context_of(const Recipe& recipe, std::vector<ArchiveFile> more = {});

}  // namespace hostler::docker
