#include "adapters/docker/image.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "core/result.h"

namespace hostler::docker {

namespace {

constexpr std::size_t block_bytes = 512;

// POSIX.1-1988: numbers in octal, the checksum over the header with itself as spaces.
void add_entry(std::string& archive, std::string_view name, char type, unsigned mode,
               std::string_view content) {
    std::array<char, block_bytes> header{};
    HOSTLER_ASSERT(name.size() <= archive_name_max);
    const auto put = [&](std::size_t at, std::size_t size, unsigned long value) {
        std::snprintf(header.data() + at, size, "%0*lo", static_cast<int>(size - 1), value);
    };
    std::memcpy(header.data(), name.data(), name.size());
    put(100, 8, mode);
    put(108, 8, 0);  // User and group: root.
    put(116, 8, 0);
    put(124, 12, content.size());
    put(136, 12, 0);  // Changed at the epoch, so that the same program is the same image.
    header[156] = type;
    std::memcpy(header.data() + 257,
                "ustar\0"
                "00",
                8);
    std::memset(header.data() + 148, ' ', 8);
    unsigned long sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::snprintf(header.data() + 148, 8, "%06lo", sum);
    archive.append(header.data(), header.size()).append(content);
    archive.append((block_bytes - content.size() % block_bytes) % block_bytes, '\0');
}

}  // namespace

std::string archive_of(const std::vector<ArchiveFile>& files) {
    std::string archive;
    for (const auto& file : files)
        add_entry(archive, file.name, file.name.ends_with('/') ? '5' : '0', file.mode, file.content);
    return archive.append(2 * block_bytes, '\0');
}

std::string rootfs_of_program(std::string_view path, std::string_view program) {
    std::string archive;
    archive.reserve(program.size() + 8 * block_bytes);
    add_entry(archive, "tmp/", '5', 01777, {});
    add_entry(archive, "etc/", '5', 0755, {});
    add_entry(archive, "data/", '5', 0755, {});
    if (path.starts_with('/')) path.remove_prefix(1);
    add_entry(archive, path, '0', 0755, program);
    return archive.append(2 * block_bytes, '\0');
}

std::pair<std::string, std::string> split_image(std::string_view image) {
    if (const auto at = image.find('@'); at != std::string_view::npos)
        return {std::string(image.substr(0, at)), std::string(image.substr(at + 1))};
    const auto colon = image.rfind(':');
    const auto slash = image.rfind('/');
    if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash))
        return {std::string(image), "latest"};
    return {std::string(image.substr(0, colon)), std::string(image.substr(colon + 1))};
}

}  // namespace hostler::docker
