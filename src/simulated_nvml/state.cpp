#include "simulated_nvml/state.h"

#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <numbers>
#include <shared_mutex>
#include <sstream>
#include <tuple>
#include <type_traits>

namespace hostler::simulated {

namespace {

constexpr std::size_t text_max = 1 << 20;
constexpr std::size_t gpus_max = 64;

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream in{text};
    std::vector<std::string> out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
}

// Two changes within one tick of the file system's clock still differ in inode: writers replace the file.
using Stamp = std::tuple<dev_t, ino_t, off_t, long, long>;

bool stamp_of(const std::string& path, Stamp& stamp) {
    struct stat file{};
    if (stat(path.c_str(), &file) != 0) return false;
    stamp = {file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec};
    return true;
}

struct File {
    std::shared_mutex mutex;  // Many threads ask, one reads.
    std::string path;
    Stamp stamp;
    bool read = false;
    std::shared_ptr<const State> state;
};

// Never destroyed: a hung call may outlive everything.
File& file() {
    static File& one = *new File;
    return one;
}

}  // namespace

double Number::at(double seconds, double phase) const {
    if (period_s <= 0) return low;
    return (low + high) / 2 + (high - low) / 2 * std::sin(2 * std::numbers::pi * seconds / period_s + phase);
}

void Section::add(std::string key, std::string value) {
    settings_[std::move(key)].push_back(std::move(value));
}

std::string Section::text(const std::string& key, const std::string& otherwise) const {
    const auto found = settings_.find(key);
    return found == settings_.end() ? otherwise : found->second.back();
}

long long Section::integer(const std::string& key, long long otherwise) const {
    return has(key) ? std::strtoll(text(key).c_str(), nullptr, 0) : otherwise;
}

Number Section::number(const std::string& key, double otherwise) const {
    const auto parts = words(text(key));
    if (parts.empty()) return {.low = otherwise};
    if (parts.size() == 4 && parts[0] == "wave") {
        return {std::strtod(parts[1].c_str(), nullptr), std::strtod(parts[2].c_str(), nullptr),
                std::strtod(parts[3].c_str(), nullptr)};
    }
    return {.low = std::strtod(parts[0].c_str(), nullptr)};
}

std::vector<std::vector<std::string>> Section::rows(const std::string& key) const {
    std::vector<std::vector<std::string>> out;
    const auto found = settings_.find(key);
    if (found == settings_.end()) return out;
    for (const auto& line : found->second) out.push_back(words(line));
    return out;
}

bool Section::names(const std::string& key, const std::string& word) const {
    for (const auto& row : rows(key)) {
        for (const auto& one : row) {
            if (one == word || one == "all") return true;
        }
    }
    return false;
}

std::vector<Slice> slices_of(const Section& gpu) {
    std::vector<Slice> slices;
    if (gpu.text("mig") != "enabled") return slices;
    for (const auto& row : gpu.rows("slice")) {
        if (row.empty()) continue;
        Slice& slice = slices.emplace_back();
        slice.uuid = row[0];
        for (const std::string& word : row) {
            const auto equals = word.find('=');
            if (equals == std::string::npos) continue;
            const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
            const auto number = std::strtoull(value.c_str(), nullptr, 10);
            const auto is = [&](const char* wanted, auto& into) {
                if (name == wanted) into = static_cast<std::remove_reference_t<decltype(into)>>(number);
            };
            is("gi", slice.gpu_instance), is("ci", slice.compute_instance);
            is("start", slice.start), is("size", slice.size);
            is("g", slice.gpu_slices), is("c", slice.compute_slices), is("sms", slice.multiprocessors);
            is("mib", slice.memory_mib), is("used", slice.used_mib), is("active", slice.active_percent);
            if (name == "media") slice.media = value == "yes";
        }
    }
    return slices;
}

const Section* State::gpu(const std::string& uuid) const {
    const auto at = by_uuid.find(uuid);
    return at == by_uuid.end() ? nullptr : &gpus[at->second];
}

const Section* State::owner_of(const std::string& uuid) const {
    const auto slice = slices.find(uuid);
    return slice == slices.end() ? gpu(uuid) : &gpus[slice->second.first];
}

std::vector<const Section*> State::present() const {
    std::vector<const Section*> out;
    for (const auto& section : gpus) {
        if (!section.yes("absent")) out.push_back(&section);
    }
    return out;
}

std::shared_ptr<const State> parse(const std::string& text) {
    auto state = std::make_shared<State>();
    Section* section = nullptr;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) {
        line = trimmed(line);
        if (line.empty() || line[0] == '#') continue;
        if (line == "[system]") {
            section = &state->system;
        } else if (line.starts_with("[gpu")) {
            if (state->gpus.size() >= gpus_max) return nullptr;
            section = &state->gpus.emplace_back();
        } else {
            const auto equals = line.find('=');
            if (equals == std::string::npos || !section) return nullptr;
            section->add(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
        }
    }
    for (std::size_t i = 0; i < state->gpus.size(); ++i) {
        const Section& gpu = state->gpus[i];
        if (!gpu.has("uuid") || !gpu.has("pci")) return nullptr;
        if (gpu.yes("absent")) continue;
        state->by_uuid.emplace(gpu.text("uuid"), i);
        for (const Slice& slice : slices_of(gpu)) state->slices.emplace(slice.uuid, std::pair{i, slice});
    }
    return state;
}

std::shared_ptr<const State> current() {
    File& from = file();
    Stamp stamp;
    const auto is_as_read = [&] { return !stamp_of(from.path, stamp) || (from.read && stamp == from.stamp); };
    {
        const std::shared_lock lock{from.mutex};
        if (!from.path.empty() && is_as_read()) return from.state;
    }
    const std::scoped_lock lock{from.mutex};
    if (from.path.empty()) {
        const char* path = std::getenv("HOSTLER_SIMULATED_NVML");
        if (!path) return from.state;
        from.path = path;
    }
    if (is_as_read()) return from.state;
    std::ifstream in{from.path, std::ios::binary};
    std::string text(text_max + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    from.stamp = stamp;
    from.read = true;
    if (text.size() <= text_max) {
        if (auto next = parse(text)) from.state = std::move(next);
    }
    return from.state;
}

void forget() {
    File& from = file();
    const std::scoped_lock lock{from.mutex};
    from.path.clear();
    from.read = false;
    from.state = nullptr;
}

}  // namespace hostler::simulated
