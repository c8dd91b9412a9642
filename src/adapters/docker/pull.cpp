#include "adapters/docker/pull.h"

#include <algorithm>
#include <boost/json.hpp>

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

}  // namespace

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
    } else if (status == "Download complete" || status == "Pull complete") {
        if (const auto layer = layers_.find(id); layer != layers_.end())
            layer->second.bytes = layer->second.size;
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
    if (text.starts_with("STEP ") || text.starts_with("Step ")) step_ = text.substr(0, step_bytes_max);
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
    }
    return all;
}

}  // namespace hostler::docker
