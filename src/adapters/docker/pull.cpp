#include "adapters/docker/pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "adapters/docker/bodies.h"

namespace hostler::docker {

namespace json = boost::json;

namespace {

constexpr std::size_t line_bytes_max = 64 * 1024;
constexpr std::size_t step_bytes_max = 120;
constexpr std::size_t lines_kept = 8;
constexpr std::size_t layers_max = 1024;  // Engines allow some hundred.

std::string text_of(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value && value->is_string() ? std::string{value->get_string()} : std::string{};
}

std::uint64_t bytes_of(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value && value->is_int64() && value->get_int64() > 0
               ? static_cast<std::uint64_t>(value->get_int64())
               : 0;
}

// "2/5" at the beginning of `text`, which then begins behind it.
std::optional<std::pair<int, int>> take_fraction(std::string_view& text) {
    std::pair<int, int> found;
    const char* const end = text.data() + text.size();
    const auto [slash, wrong] = std::from_chars(text.data(), end, found.first);
    if (wrong != std::errc{} || slash == end || *slash != '/') return std::nullopt;
    const auto [rest, worse] = std::from_chars(slash + 1, end, found.second);
    if (worse != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    return found;
}

// "STEP 2/5: RUN true" and "[1/2] STEP 2/5: RUN true" of podman, "Step 2/5 : RUN true" of dockerd, in words;
// empty: that is no step.
std::string step_of(std::string_view text) {
    std::string stage;
    if (text.starts_with('[')) {
        text.remove_prefix(1);
        const auto which = take_fraction(text);
        if (!which || !text.starts_with("] ")) return {};
        text.remove_prefix(2);
        stage = fmt::format("stage {} of {}, ", which->first, which->second);
    }
    if (!text.starts_with("STEP ") && !text.starts_with("Step ")) return {};
    text.remove_prefix(5);
    const auto which = take_fraction(text);
    if (!which) return {};
    text.remove_prefix(std::min(text.find_first_not_of(" :"), text.size()));
    return fmt::format("{}step {} of {}: {}", stage, which->first, which->second, text);
}

}  // namespace

std::string registry_auth(const RegistryLogin& login) {
    constexpr const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    // Docker Hub has this name to engines, for its API of 2013.
    const std::string server = login.server == "docker.io" ? "https://index.docker.io/v1/" : login.server;
    const std::string text = json::serialize(
        json::object{{"username", login.username}, {"password", login.password}, {"serveraddress", server}});
    std::string encoded;
    for (std::size_t at = 0; at < text.size(); at += 3) {
        const auto byte = [&](std::size_t i) {
            return at + i < text.size() ? static_cast<std::uint32_t>(static_cast<std::uint8_t>(text[at + i]))
                                        : 0U;
        };
        const std::uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (std::size_t i = 0; i < 4; ++i)
            encoded += at + i <= text.size() ? letters[bits >> (18 - 6 * i) & 63] : '=';
    }
    return encoded;
}

void Lines::feed(std::string_view piece) {
    for (const char c : piece) {
        if (c != '\n') {
            if (line_.size() < line_bytes_max) line_ += c;
            continue;
        }
        each_(line_);
        line_.clear();
    }
}

void Lines::finish() {
    each_(line_);
    line_.clear();
}

void PullStream::take(std::string_view line) {
    if (!error_) error_ = pull_error(line);
    boost::system::error_code wrong;
    const json::value value = json::parse({line.data(), line.size()}, wrong);
    const auto* said = wrong ? nullptr : value.if_object();
    if (!said) return;
    const std::string id = text_of(*said, "id");
    if (id.empty() || (!layers_.contains(id) && layers_.size() >= layers_max)) return;
    const std::string status = text_of(*said, "status");
    if (status == "Downloading") {
        const auto* detail = said->if_contains("progressDetail");
        if (!detail || !detail->is_object()) return;
        Layer& layer = layers_[id];
        layer.size = std::max(layer.size, bytes_of(detail->get_object(), "total"));
        layer.bytes = std::min(bytes_of(detail->get_object(), "current"), layer.size);
    } else if (status == "Pulling fs layer") {
        layers_.try_emplace(id);
    } else if (status == "Download complete" || status == "Pull complete" || status == "Already exists") {
        Layer& layer = layers_[id];
        layer.bytes = layer.size;
        layer.whole = true;
    }
}

void BuildStream::take(std::string_view line) {
    if (!error_) error_ = pull_error(line);
    boost::system::error_code wrong;
    const json::value value = json::parse({line.data(), line.size()}, wrong);
    const auto* said = wrong ? nullptr : value.if_object();
    if (!said) return;
    std::string text = text_of(*said, "stream");
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (text.empty()) return;
    if (const std::string step = step_of(text); !step.empty()) step_ = step.substr(0, step_bytes_max);
    said_.push_back(std::move(text));
    if (said_.size() > lines_kept) said_.pop_front();
}

std::string BuildStream::last_lines() const {
    std::string text;
    for (const auto& line : said_) text += (text.empty() ? "" : "\n") + line;
    return text;
}

PullProgress PullStream::progress() const {
    PullProgress all;
    for (const auto& [id, layer] : layers_) {
        all.bytes += layer.bytes;
        all.bytes_known += layer.size;
        if (layer.whole) ++all.layers;
    }
    all.layers_known = layers_.size();
    return all;
}

}  // namespace hostler::docker
