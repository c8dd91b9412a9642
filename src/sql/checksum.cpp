#include "sql/checksum.h"

#include <algorithm>

namespace hostler::sql {

namespace {

// Each step is one-to-one in the sum for a given word and in the word for a given sum: a single word that
// differs can never be made up for by the ones after it. The form of it is stored and never changes.
struct Sum {
    std::uint64_t value = 0x9e3779b97f4a7c15;

    void add(std::uint64_t word) {
        value = (value ^ word) * 0xff51afd7ed558ccd;
        value ^= value >> 32;
    }

    // Eight bytes at a time, the first the lowest, whatever the machine; then the length.
    void add(std::string_view text) {
        const std::size_t size = text.size();
        while (!text.empty()) {
            std::uint64_t word = 0;
            const std::size_t bytes = std::min<std::size_t>(text.size(), 8);
            for (std::size_t i = 0; i < bytes; ++i)
                word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << 8 * i;
            add(word);
            text.remove_prefix(bytes);
        }
        add(size);
    }
};

}  // namespace

std::uint64_t checksum(std::span<const Value> values) {
    Sum sum;
    for (const Value& value : values) {
        if (value.is_text)
            sum.add(value.text);
        else
            sum.add(static_cast<std::uint64_t>(value.number));
    }
    return sum.value == 0 ? 1 : sum.value;
}

}  // namespace hostler::sql
