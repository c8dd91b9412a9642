// Numbers in bytes: variable length, seven bits at a time, and fixed, little endian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hostler::series {

inline std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

constexpr std::size_t varint_max = 10;

inline char* put_varint(char* to, std::uint64_t value) {
    while (value >= 0x80) {
        *to++ = static_cast<char>(value | 0x80);
        value >>= 7;
    }
    *to++ = static_cast<char>(value);
    return to;
}
inline void add_varint(std::string& to, std::uint64_t value) {
    char bytes[varint_max];
    to.append(bytes, put_varint(bytes, value));
}
inline void add_signed(std::string& to, std::int64_t value) { add_varint(to, zigzag(value)); }
inline void add_text(std::string& to, std::string_view text) {
    add_varint(to, text.size());
    to.append(text);
}
template <class Number>
void add_fixed(std::string& to, Number number) {
    for (std::size_t i = 0; i < sizeof number; ++i) to += static_cast<char>(number >> (8 * i));
}
template <class Number>
Number fixed_at(std::string_view bytes) {
    Number number = 0;
    for (std::size_t i = 0; i < sizeof number; ++i)
        number |= static_cast<Number>(Number{static_cast<std::uint8_t>(bytes[i])} << (8 * i));
    return number;
}

// Takes from the front. What is not there is zero or empty, and ok() is false from then on.
class Reader {
public:
    explicit Reader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    bool ok() const { return ok_; }
    bool done() const { return at_ == end_; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(*at_++);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) return value;
        }
        fail();
        return 0;
    }
    std::int64_t signed_varint() { return unzigzag(varint()); }
    std::string_view take(std::uint64_t size) {
        if (size > left()) {
            fail();
            return {};
        }
        const std::string_view taken{at_, static_cast<std::size_t>(size)};
        at_ += size;
        return taken;
    }
    std::string_view text() { return take(varint()); }
    // How many things follow that have at least `bytes_min` each: never more than there is room for.
    std::size_t count(std::size_t bytes_min = 1) {
        const auto value = varint();
        if (value > left() / bytes_min) {
            fail();
            return 0;
        }
        return static_cast<std::size_t>(value);
    }
    void fail() {
        ok_ = false;
        at_ = end_;
    }

private:
    const char* at_;
    const char* end_;
    bool ok_ = true;
};

// CRC-32 (that of zip and Ethernet).
std::uint32_t checksum(std::string_view bytes);

}  // namespace hostler::series
