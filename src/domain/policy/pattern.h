// Patterns with `*`, which stands for any text, also for none and for one with slashes.
#pragma once

#include <string_view>

namespace hostler {

// Of the whole text. Takes time as the product of both lengths at most.
bool pattern_matches(std::string_view pattern, std::string_view text);

// Of the full name of an image (full_image_name). The pattern gets its registry like a name: "ubuntu" is
// "docker.io/library/ubuntu", "acme/*" is "docker.io/acme/*"; one that begins with '*' is taken as it is.
// Without a tag, a digest and a '*' at its end it matches each tag and digest; "ubuntu:22.04" matches that
// tag alone, and no digest.
bool image_matches(std::string_view pattern, std::string_view image);

}  // namespace hostler
