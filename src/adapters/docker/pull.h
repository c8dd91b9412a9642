// What an engine tells while it pulls an image.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ports/engine.h"

namespace hostler::docker {

// A login as X-Registry-Auth has it: JSON in base64 for URLs.
std::string registry_auth(const RegistryLogin& login);

// Cuts a stream of lines, in pieces that end anywhere. What is longer than 64 KiB loses its end.
class Lines {
public:
    explicit Lines(std::function<void(std::string_view)> each) : each_(std::move(each)) {}
    void feed(std::string_view piece);
    void finish();  // The last line may lack its end.

private:
    std::function<void(std::string_view)> each_;
    std::string line_;
};

// Reads what it tells of a pull: lines of JSON.
class PullStream {
public:
    void feed(std::string_view piece) { lines_.feed(piece); }
    void finish() { lines_.finish(); }

    std::optional<std::string> error() const { return error_; }  // The engine's words.
    PullProgress progress() const;                               // All layers that were begun.

private:
    void take(std::string_view line);

    struct Layer {
        std::uint64_t bytes = 0;
        std::uint64_t size = 0;
        bool whole = false;
    };
    Lines lines_{[this](std::string_view line) { take(line); }};
    std::optional<std::string> error_;
    std::map<std::string, Layer> layers_;
};

// Reads what it tells while it builds an image.
class BuildStream {
public:
    void feed(std::string_view piece) { lines_.feed(piece); }
    void finish() { lines_.finish(); }

    std::optional<std::string> error() const { return error_; }  // The engine's words.
    const std::string& step() const { return step_; }            // "step 2 of 5: RUN apt-get update"
    std::string last_lines() const;                              // Of what the steps wrote.

private:
    void take(std::string_view line);

    Lines lines_{[this](std::string_view line) { take(line); }};
    std::optional<std::string> error_;
    std::string step_;
    std::deque<std::string> said_;
};

}  // namespace hostler::docker
