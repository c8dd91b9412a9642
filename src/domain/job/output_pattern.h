// Names of output files: "%x/%A_%a.out". %j job, %A job of the array, %a index, %x name, %N host, %u user,
// %t rank, %n host's number (0), %% percent; %5a pads a number with zeros, at most %10a.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler {

inline constexpr std::size_t output_pattern_max = 1024;
inline constexpr std::size_t output_path_max = 4096;

struct OutputNames {
    std::string job;                            // The number or id of this element, or of the job.
    std::string array_job;                      // Of its array; empty: as job.
    std::optional<std::int64_t> array_index{};  // nullopt: no array; %a is then 4294967294, as in Slurm.
    std::string name;
    std::string host;
    std::string user;
    std::int64_t rank = 0;
};

// Whether it can be expanded: no "..", no unknown sign, no control characters. Errors: invalid.
Result<> check_output(std::string_view pattern);
// Likewise, and that it stays in the folder. Both may begin with '/'; "/dev/null" may be written.
Result<> check_output_in(std::string_view pattern, std::string_view workdir);

// The path in the working directory, without a '/' at its front; or "/dev/null". A '/' in a name becomes '_'.
// Errors: invalid, with `field` as the wrong field.
Result<std::string> expand_output(std::string_view pattern, const OutputNames& names,
                                  std::string_view workdir, std::string_view field);

}  // namespace hostler
