#include "bin/cloud_mark.h"

#include <fmt/format.h>

#include <charconv>

#include "bin/process.h"
#include "bin/roles.h"
#include "core/log.h"

namespace hostler::bin {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t digits = 16;

std::string text_of(std::uint64_t mark) { return fmt::format("{:016x}\n", mark); }

Result<std::uint64_t> mark_in(const fs::path& file) {
    const std::string text = read_file(file);
    std::uint64_t mark = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + std::min(text.size(), digits), mark, 16);
    if (error == std::errc{} && mark != 0 && text_of(mark) == text) return mark;
    return fail(
        Code::unavailable,
        fmt::format("the file {} is damaged: it must hold the {} hexadecimal digits of its cloud. Put it "
                    "back from a copy, or remove it if the store with this authority is the right one",
                    file.string(), digits),
        "cloud_mark_damaged");
}

}  // namespace

Result<std::shared_ptr<sql::Cloud>> read_cloud_mark(const fs::path& authority_folder, Random& random) {
    auto cloud = std::make_shared<sql::Cloud>();
    cloud->authority = authority_folder.string();
    // A store keeps it as a signed number.
    cloud->fresh = (random_number(random) >> 1) | 1;
    const fs::path file = authority_folder / cloud_mark_file;
    std::error_code error;
    if (fs::exists(file, error)) cloud->mark = TRY(mark_in(file));
    // The first master that leads makes these keys, and a standby is given them by one that has led.
    cloud->in_use = !read_file(authority_folder / sealing_keys_file).empty();
    return cloud;
}

void keep_cloud_mark(const fs::path& authority_folder, const sql::Cloud& cloud) {
    const fs::path file = authority_folder / cloud_mark_file;
    const std::string text = text_of(cloud.mark);
    if (cloud.mark == 0 || read_file(file) == text) return;
    if (const auto written = write_file(file, text); !written)
        log_warn("{}; without that file a lost store becomes a new, empty cloud", written.error().message);
}

}  // namespace hostler::bin
