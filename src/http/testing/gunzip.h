// For tests: what a client makes of gzip.
#pragma once

#include <zlib.h>

#include <optional>
#include <string>
#include <string_view>

namespace hostler::http::testing {

// nullopt: this is no gzip, or not the whole of it.
inline std::optional<std::string> gunzip(std::string_view packed) {
    constexpr int gzip_window_bits = 15 + 16;
    z_stream stream{};
    if (inflateInit2(&stream, gzip_window_bits) != Z_OK) return std::nullopt;
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    std::string text;
    int code = Z_OK;
    while (code == Z_OK) {
        const std::size_t had = text.size();
        text.resize(had + 65'536);
        stream.next_out = reinterpret_cast<Bytef*>(text.data() + had);
        stream.avail_out = static_cast<uInt>(text.size() - had);
        code = inflate(&stream, Z_NO_FLUSH);
        text.resize(text.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    if (code != Z_STREAM_END || stream.avail_in != 0) return std::nullopt;
    return text;
}

}  // namespace hostler::http::testing
