// For tests: hides nothing from whoever wants to know, and binds to key and place as a real one does.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ports/sealer.h"
#include "ports/store.h"

namespace hostler::master::testing {

class PlainSealer final : public Sealer {
public:
    std::vector<std::string> keys() const override { return ring; }
    Result<std::string> make() override {
        if (disk_is_full) return fail(Code::unavailable, "the disk is full");
        return ring.emplace_back(fmt::format("k-{}", ++made));
    }
    Result<> forget(std::string key) override {
        if (disk_is_full) return fail(Code::unavailable, "the disk is full");
        std::erase(ring, key);
        return {};
    }
    Result<> read() override {
        for (const std::string& key : std::exchange(imported, {})) ring.push_back(key);
        return {};
    }
    Result<std::string> seal(std::string_view key, std::string_view place,
                             std::string_view plain) const override {
        if (std::ranges::count(ring, key) == 0) return fail(Code::not_found, "no such key");
        return hex(fmt::format("{} at {} is ", key, place)) + "-" + hex(plain);
    }
    Result<std::string> open(std::string_view key, std::string_view place,
                             std::string_view sealed) const override {
        if (std::ranges::count(ring, key) == 0) return fail(Code::not_found, "no such key");
        const std::string front = hex(fmt::format("{} at {} is ", key, place)) + "-";
        if (!sealed.starts_with(front)) return fail(Code::unauthenticated, "sealed for another place");
        std::string plain;
        for (std::size_t at = front.size(); at + 1 < sealed.size(); at += 2) {
            unsigned value = 0;
            std::from_chars(sealed.data() + at, sealed.data() + at + 2, value, 16);
            plain += static_cast<char>(value);
        }
        return plain;
    }

    // As the store says that `key` is the current one.
    static Object record(const std::string& key) {
        return {.kind = "sealing_key",
                .id = key,
                .phase = "current",
                .created = 1,
                .version = 1,
                .body = fmt::format(R"({{"id":"{}","phase":"current"}})", key)};
    }

    std::vector<std::string> ring{"k-0"};
    std::vector<std::string> imported;  // Lie there, and were not read so far.
    int made = 0;
    bool disk_is_full = false;

private:
    static std::string hex(std::string_view text) {
        std::string all;
        for (const char c : text) all += fmt::format("{:02x}", static_cast<unsigned char>(c));
        return all;
    }
};

}  // namespace hostler::master::testing
