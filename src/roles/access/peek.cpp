#include "roles/access/peek.h"

namespace hostler::access {

namespace {

constexpr int field_call = 1;
constexpr int field_answer_to = 2;
constexpr int first_body = 10;
constexpr std::uint64_t wire_varint = 0, wire_fixed64 = 1, wire_bytes = 2, wire_fixed32 = 5;

std::optional<std::uint64_t> varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        if (shift == 63 && byte > 1) return std::nullopt;
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    return std::nullopt;
}

bool skip(std::string_view& bytes, std::uint64_t size) {
    if (size > bytes.size()) return false;
    bytes.remove_prefix(size);
    return true;
}

}  // namespace

std::optional<Peek> peek(std::string_view frame) {
    Peek found;
    while (!frame.empty()) {
        const auto tag = varint(frame);
        if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fff'ffff) return std::nullopt;
        const int field = static_cast<int>(*tag >> 3);
        const std::uint64_t type = *tag & 7;
        if (field >= first_body) {
            if (type != wire_bytes || found.kind != 0) return std::nullopt;
            found.kind = field;
        }
        if (type == wire_varint) {
            const auto value = varint(frame);
            if (!value) return std::nullopt;
            if (field == field_call) found.call = *value;
            if (field == field_answer_to) found.answer_to = *value;
        } else if (type == wire_bytes) {
            const auto size = varint(frame);
            if (!size || !skip(frame, *size)) return std::nullopt;
        } else if (type != wire_fixed64 && type != wire_fixed32) {
            return std::nullopt;
        } else if (!skip(frame, type == wire_fixed64 ? 8 : 4)) {
            return std::nullopt;
        }
    }
    return found;
}

}  // namespace hostler::access
