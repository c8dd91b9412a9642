// The files of a store, as few calls as it needs; tests put a disk that fails behind them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler::series {

// Reads at a place; also when the file was removed meanwhile. Any thread.
class ReadFile {
public:
    virtual ~ReadFile() = default;
    virtual std::uint64_t size() const = 0;
    virtual Result<std::string> read(std::uint64_t at,
                                     std::size_t size) const = 0;  // All of it, or an error.
};

// One thread. Errors: exhausted (disk full), unavailable.
class Folder {
public:
    virtual ~Folder() = default;
    virtual Result<std::vector<std::string>> list() = 0;
    virtual Result<> create(const std::string& name) = 0;  // Empty, whatever was there; its name is durable.
    virtual Result<> append(const std::string& name, std::string_view bytes) = 0;  // May leave a part of it.
    virtual Result<> cut(const std::string& name, std::uint64_t size) = 0;
    virtual Result<> sync(const std::string& name) = 0;
    virtual Result<> rename(const std::string& from, const std::string& to) = 0;  // Durable, as remove() is.
    virtual Result<> remove(const std::string& name) = 0;
    virtual Result<std::shared_ptr<const ReadFile>> open(const std::string& name) = 0;

    // Of the file system it is on.
    struct Volume {
        std::uint64_t bytes = 0;
        std::uint64_t free_bytes = 0;  // For a process without privilege.
    };
    virtual std::optional<Volume> volume() const { return std::nullopt; }  // nullopt: not known.
};

// A folder of the disk; made if it is not there. Errors: conflict (another process has it), unavailable.
Result<std::unique_ptr<Folder>> open_folder(const std::string& path);

}  // namespace hostler::series
