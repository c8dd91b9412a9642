// What the simulated driver is to say: read from a text file, and read again whenever that changes. README.md
// tells the format.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hostler::simulated {

// "35", or "wave LOW HIGH SECONDS": a gentle swing between two values.
struct Number {
    double low = 0;
    double high = 0;
    double period_s = 0;  // 0: always `low`.
    double at(double seconds, double phase) const;
};

// One section of the file: settings, of which a few may come several times.
class Section {
public:
    void add(std::string key, std::string value);
    bool has(const std::string& key) const { return settings_.contains(key); }
    std::string text(const std::string& key, const std::string& otherwise = {}) const;
    long long integer(const std::string& key, long long otherwise = 0) const;
    bool yes(const std::string& key) const { return text(key) == "yes"; }
    Number number(const std::string& key, double otherwise) const;
    std::vector<std::vector<std::string>> rows(
        const std::string& key) const;  // Words of each line with this key.
    bool names(const std::string& key,
               const std::string& word) const;  // `word`, or "all", is on such a line.

private:
    std::map<std::string, std::vector<std::string>> settings_;
};

// A MIG device, of a GPU whose `mig` is enabled: what its `slice` line says of it.
struct Slice {
    std::string uuid;
    unsigned gpu_instance = 0, compute_instance = 0;
    unsigned start = 0, size = 1;  // Memory slices of the GPU instance.
    unsigned gpu_slices = 1, compute_slices = 1, multiprocessors = 0;
    unsigned long long memory_mib = 0, used_mib = 0;
    double active_percent = 0;
    bool media = false;  // It has the JPEG and optical-flow units.
};
std::vector<Slice> slices_of(const Section& gpu);

struct State {
    Section system;
    std::vector<Section> gpus;
    std::map<std::string, std::size_t> by_uuid;                   // Those that are not `absent`, of `gpus`,
    std::map<std::string, std::pair<std::size_t, Slice>> slices;  // and slices of theirs.
    const Section* gpu(const std::string& uuid) const;            // nullptr: none, or `absent`.
    const Section* owner_of(const std::string& uuid) const;       // The GPU, or that of the slice.
    std::vector<const Section*> present() const;
};

// nullptr: the text is not a state. Sizes are bounded: 1 MiB, 64 GPUs.
std::shared_ptr<const State> parse(const std::string& text);

// The state of the moment. Looks at the file's inode, size and time of change at every call; a text that
// cannot be read leaves the state as it was. nullptr: there never was one. For any thread.
std::shared_ptr<const State> current();
// Begins anew with the file that the environment names now.
void forget();

}  // namespace hostler::simulated
