// Bits in as little space as their chances allow: an adaptive binary arithmetic coder, and plain bits beside
// it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace hostler::series {

// The chance that a bit is 1, learnt from those before: quickly at first, then over some hundred of them.
class Chance {
public:
    std::uint32_t one() const { return one_; }
    void learn(bool bit) {
        const auto& step = steps[seen_];
        if (bit)
            one_ = static_cast<std::uint16_t>(one_ + (((std::uint32_t{65535} - one_) * step) >> 16));
        else
            one_ = static_cast<std::uint16_t>(one_ - ((std::uint32_t{one_} * step) >> 16));
        if (one_ < certain) one_ = certain;
        if (one_ > 65535 - certain) one_ = 65535 - certain;
        if (seen_ + 1U < steps.size()) ++seen_;
    }

private:
    static constexpr std::uint16_t certain = 48;  // In 65536.
    static constexpr auto steps = [] {
        std::array<std::uint32_t, 96> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) made[i] = 65536 * 2 / (2 * i + 3);
        return made;
    }();
    std::uint16_t one_ = 32768;
    std::uint8_t seen_ = 0;
};

// What is left of all numbers: who writes and who reads narrow it alike.
struct Interval {
    std::uint32_t low = 0;
    std::uint32_t high = ~std::uint32_t{0};

    // A bit that is set has what is not above.
    std::uint32_t middle(const Chance& chance) const {
        return low + static_cast<std::uint32_t>((std::uint64_t{high - low} * chance.one()) >> 16);
    }
    // `settled` is called for each upper byte that both ends have, before it goes.
    template <class Settled>
    void narrow(bool bit, std::uint32_t middle, Chance& chance, Settled settled) {
        if (bit)
            high = middle;
        else
            low = middle + 1;
        chance.learn(bit);
        while (((low ^ high) >> 24) == 0) {
            settled();
            low <<= 8;
            high = high << 8 | 0xFF;
        }
    }
};

class Encoder {
public:
    explicit Encoder(std::string& to) : to_(to) {}

    void put(bool bit, Chance& chance) {
        left_.narrow(bit, left_.middle(chance), chance,
                     [this] { to_ += static_cast<char>(left_.high >> 24); });
    }
    // As few bytes as name a number between low and high; the decoder takes zeros for what is not there.
    void finish() {
        if (left_.low == 0) return;
        for (int bytes = 1; bytes <= 4; ++bytes) {
            const int shift = 32 - 8 * bytes;
            const std::uint64_t up = ((std::uint64_t{left_.low} + (std::uint64_t{1} << shift) - 1) >> shift)
                                     << shift;
            if (up > left_.high) continue;
            for (int i = 0; i < bytes; ++i) to_ += static_cast<char>(up >> (24 - 8 * i));
            return;
        }
    }

private:
    std::string& to_;
    Interval left_;
};

class Decoder {
public:
    explicit Decoder(std::string_view from) : from_(from) {
        for (int i = 0; i < 4; ++i) code_ = code_ << 8 | next();
    }
    bool take(Chance& chance) {
        const std::uint32_t middle = left_.middle(chance);
        const bool bit = code_ <= middle;
        left_.narrow(bit, middle, chance, [this] { code_ = code_ << 8 | next(); });
        return bit;
    }

private:
    std::uint32_t next() { return at_ < from_.size() ? static_cast<std::uint8_t>(from_[at_++]) : 0; }
    std::string_view from_;
    std::size_t at_ = 0;
    std::uint32_t code_ = 0;
    Interval left_;
};

// Bits that no chance would make shorter.
class BitWriter {
public:
    explicit BitWriter(std::string& to) : to_(to) {}
    void put(std::uint64_t bits, int count) {  // The low `count` bits, 0 … 64.
        if (count > 32) {
            put(bits >> 32, count - 32);
            count = 32;
        }
        held_ = held_ << count | (bits & ((std::uint64_t{1} << count) - 1));
        for (count_ += count; count_ >= 8; count_ -= 8) to_ += static_cast<char>(held_ >> (count_ - 8));
    }
    void finish() {
        if (count_ > 0) put(0, 8 - count_);
    }

private:
    std::string& to_;
    std::uint64_t held_ = 0;
    int count_ = 0;
};

class BitReader {
public:
    explicit BitReader(std::string_view from) : from_(from) {}
    std::uint64_t take(int count) {
        if (count > 32) {
            const auto high = take(count - 32);
            return high << 32 | take(32);
        }
        while (count_ < count) {
            held_ = held_ << 8 | (at_ < from_.size() ? static_cast<std::uint8_t>(from_[at_++]) : 0);
            count_ += 8;
        }
        count_ -= count;
        return (held_ >> count_) & ((std::uint64_t{1} << count) - 1);
    }

private:
    std::string_view from_;
    std::size_t at_ = 0;
    std::uint64_t held_ = 0;
    int count_ = 0;
};

// A number of `bits` bits, its high ones first, each with the chances of those before it.
template <int bits>
class Tree {
public:
    void put(Encoder& to, unsigned value) {
        unsigned node = 1;
        for (int i = bits - 1; i >= 0; --i) {
            const bool bit = (value >> i) & 1;
            to.put(bit, chances_[node]);
            node = node << 1 | unsigned{bit};
        }
    }
    unsigned take(Decoder& from) {
        unsigned node = 1;
        for (int i = 0; i < bits; ++i) node = node << 1 | unsigned{from.take(chances_[node])};
        return node - (1U << bits);
    }

private:
    std::array<Chance, std::size_t{1} << bits> chances_;
};

// Small numbers often, large ones seldom: its length by chance, then its two highest bits, the rest as they
// are.
class NumberModel {
public:
    void put(Encoder& to, BitWriter& plain, std::uint64_t number) {
        const int length = std::bit_width(number);
        to.put(length == 0, zero_[before_]);
        before_ = length == 0 ? 0 : length == 1 ? 1 : 2;
        if (length == 0) return;
        lengths_.put(to, static_cast<unsigned>(length - 1));
        int left = length - 1;
        unsigned node = 1;
        for (int i = 0; i < 2 && left > 0; ++i) {
            const bool bit = (number >> --left) & 1;
            to.put(bit, tops_[static_cast<std::size_t>(length - 1)][node]);
            node = node << 1 | unsigned{bit};
        }
        if (left > 0) plain.put(number, left);
    }
    std::uint64_t take(Decoder& from, BitReader& plain) {
        const bool zero = from.take(zero_[before_]);
        if (zero) {
            before_ = 0;
            return 0;
        }
        const int length = static_cast<int>(lengths_.take(from)) + 1;
        before_ = length == 1 ? 1 : 2;
        std::uint64_t number = 1;
        int left = length - 1;
        unsigned node = 1;
        for (int i = 0; i < 2 && left > 0; ++i, --left) {
            const bool bit = from.take(tops_[static_cast<std::size_t>(length - 1)][node]);
            node = node << 1 | unsigned{bit};
            number = number << 1 | std::uint64_t{bit};
        }
        return left > 0 ? number << left | plain.take(left) : number;
    }

private:
    std::size_t before_ = 0;
    std::array<Chance, 3> zero_;
    Tree<6> lengths_;
    std::array<std::array<Chance, 4>, 64> tops_;
};

}  // namespace hostler::series
