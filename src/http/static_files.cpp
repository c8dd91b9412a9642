#include "http/static_files.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "http/compress.h"

namespace hostler::http {

namespace {

constexpr std::pair<std::string_view, std::string_view> media_types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".woff2", "font/woff2"},
    {".json", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".txt", "text/plain; charset=utf-8"},
};

bool has_etag(std::string_view list, std::string_view etag) {
    bool found = trimmed(list) == "*";
    each_item(list, [&](std::string_view item) {
        if (item.starts_with("W/")) item.remove_prefix(2);
        found |= item == etag;
    });
    return found;
}

std::string etag_of(std::string_view text) {
    return fmt::format("\"{:x}-{:08x}\"", text.size(),
                       crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

}  // namespace

MadeFile::MadeFile(std::string path, std::string text)
    : path_(std::move(path)), plain_(std::move(text)), gzip_(http::gzip(plain_)), etag_(etag_of(plain_)) {}

std::string_view media_type(std::string_view path) {
    const auto known =
        std::ranges::find_if(media_types, [&](const auto& one) { return path.ends_with(one.first); });
    return known == std::end(media_types) ? "application/octet-stream" : known->second;
}

Response file_response(const StaticFile& file, const Headers& asked, bool keep) {
    Response response;
    response.headers = {{"Content-Type", std::string{media_type(file.path)}},
                        {"Cache-Control", keep ? "public, max-age=31536000, immutable" : "no-cache"},
                        {"ETag", std::string{file.etag}},
                        {"Vary", "Accept-Encoding"},
                        {"X-Content-Type-Options", "nosniff"}};
    if (has_etag(asked.find("If-None-Match").value_or(""), file.etag)) {
        response.status = 304;
        return response;
    }
    if (!file.gzip.empty() && takes_gzip(asked)) {
        response.headers.set("Content-Encoding", "gzip");
        response.body = file.gzip;
    } else {
        response.body = file.plain;
    }
    return response;
}

}  // namespace hostler::http
