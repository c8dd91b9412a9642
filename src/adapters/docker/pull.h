// What an engine tells while it pulls an image.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ports/engine.h"

namespace hostler::docker {

// Reads its stream: lines of JSON, in pieces that end anywhere.
class PullStream {
public:
    void feed(std::string_view piece);
    void finish();  // The last line may lack its end.

    std::optional<std::string> error() const { return error_; }  // The engine's words.
    PullProgress progress() const;                               // All layers that were begun.

private:
    void take(std::string_view line);

    struct Layer {
        std::uint64_t bytes = 0;
        std::uint64_t size = 0;
    };
    std::string line_;
    std::optional<std::string> error_;
    std::map<std::string, Layer> layers_;
};

}  // namespace hostler::docker
