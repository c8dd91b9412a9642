// A folder of a test's own, gone with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/result.h"

namespace hostler::testing {

class TempFolder {
public:
    TempFolder() : path_((std::filesystem::temp_directory_path() / "hostler-test-XXXXXX").string()) {
        HOSTLER_ASSERT(::mkdtemp(path_.data()) != nullptr);
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace hostler::testing
