#include "adapters/curl/mime.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

namespace hostler::curl {

namespace {

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k) out += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

std::string lines(const std::string& encoded) {
    constexpr std::size_t line_max = 76;
    std::string out;
    for (std::size_t i = 0; i < encoded.size(); i += line_max) out += encoded.substr(i, line_max) + "\r\n";
    return out;
}

// Encoded words, each of whole characters, one a line.
std::string header_text(std::string_view text) {
    constexpr std::size_t plain_max = 60, word_bytes = 42;
    if (text.size() <= plain_max &&
        std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f && c != '='; }))
        return std::string{text};
    std::string out;
    while (!text.empty()) {
        std::size_t take = std::min(text.size(), word_bytes);
        const auto continues = [&](std::size_t at) {
            return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
        };
        while (take > 1 && continues(take)) --take;
        out += fmt::format("{}=?UTF-8?B?{}?=", out.empty() ? "" : "\r\n ", base64(text.substr(0, take)));
        text.remove_prefix(take);
    }
    return out;
}

std::string part(std::string_view type, std::string_view content) {
    return fmt::format("Content-Type: {}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{}", type,
                       lines(base64(content)));
}

}  // namespace

std::string mime_message(const Mail& mail) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(mail.date).time_since_epoch().count();
    std::string out =
        fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} +0000\r\nFrom: {}\r\nTo: {}\r\n",
                    fmt::gmtime(static_cast<std::time_t>(seconds)), mail.from, fmt::join(mail.to, ",\r\n "));
    out += fmt::format(
        "Subject: {}\r\nMessage-ID: <{}@{}>\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n",
        header_text(mail.subject), mail.id, mail.from.substr(mail.from.find('@') + 1));
    if (mail.html.empty()) return out + part("text/plain", mail.text);
    constexpr std::string_view boundary = "_hostler_part_";  // Base64 has no '_'.
    return out + fmt::format(
                     "Content-Type: multipart/alternative; boundary=\"{0}\"\r\n\r\n"
                     "--{0}\r\n{1}--{0}\r\n{2}--{0}--\r\n",
                     boundary, part("text/plain", mail.text), part("text/html", mail.html));
}

}  // namespace hostler::curl
