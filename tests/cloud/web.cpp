#include "web.h"

namespace hostler::cloud {

namespace json = boost::json;

namespace {

constexpr std::size_t body_max = 64 << 20;

Task<Page> fetch_page(http::Client& client, http::Endpoint endpoint, http::Request request, Duration within) {
    auto response = co_await client.fetch(std::move(endpoint), std::move(request),
                                          {.connect = 5s, .total = within}, body_max);
    if (!response) co_return Page{.status = 0, .headers = {}, .body = response.error().message};
    co_return Page{response->status, std::move(response->headers), std::move(response->body)};
}

Task<std::vector<Web::Piece>> read_pieces(http::Client& client, Timers& timers, http::Endpoint endpoint,
                                          Url url, http::Headers headers) {
    http::Request request{.target = url.target, .headers = std::move(headers)};
    request.headers.set("Host", url.authority);
    const auto reply = CO_TRY(co_await client.start(std::move(endpoint), {.request = std::move(request)}));
    const Instant begun = timers.now();
    std::vector<Web::Piece> pieces;
    std::vector<char> into(64 << 10);
    while (const std::size_t size = CO_TRY(co_await reply->read(into)))
        pieces.push_back({std::string{into.data(), size}, timers.now() - begun});
    co_return pieces;
}

struct Upgraded {
    int status = 0;
    StreamPtr stream;
};

Task<Upgraded> upgrade(http::Client& client, http::Endpoint endpoint, Url url, http::Headers headers) {
    http::Request request{.target = url.target, .headers = std::move(headers)};
    request.headers.set("Host", url.authority);
    request.headers.set("Connection", "Upgrade");
    request.headers.set("Upgrade", "websocket");
    request.headers.set("Sec-WebSocket-Version", "13");
    request.headers.set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    const auto reply = CO_TRY(co_await client.start(std::move(endpoint), {.request = std::move(request)}));
    // RFC 6455, section 1.3: what that key must be answered with.
    const bool accepted =
        reply->status == 101 && reply->headers.find("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    if (!accepted) co_return Upgraded{.status = reply->status, .stream = nullptr};
    co_return Upgraded{.status = 101, .stream = CO_TRY(reply->take_stream())};
}

Task<WebSocket::Message> read_message(Stream& stream) {
    char head[8];
    CO_TRY(co_await read_exactly(stream, std::span{head, 2}));
    WebSocket::Message message{.kind = static_cast<WebSocket::Kind>(head[0] & 15), .bytes = {}};
    std::uint64_t size = head[1] & 127;
    if (const std::size_t more = size == 126 ? 2 : size == 127 ? 8 : 0; more > 0) {
        CO_TRY(co_await read_exactly(stream, std::span{head, more}));
        size = 0;
        for (std::size_t i = 0; i < more; ++i) size = size << 8 | static_cast<unsigned char>(head[i]);
    }
    if (size > body_max) co_return fail(Code::invalid, "a frame too large");
    message.bytes.resize(size);
    CO_TRY(co_await read_exactly(stream, message.bytes));
    co_return message;
}

}  // namespace

json::value Page::json() const {
    boost::system::error_code error;
    json::value value = json::parse(body, error);
    return error ? json::value{} : value;
}

std::string at(const json::value& value, std::string_view pointer) {
    boost::system::error_code error;
    const json::value* found = value.find_pointer(pointer, error);
    if (!found) return {};
    return found->is_string() ? std::string{found->get_string()} : json::serialize(*found);
}

std::string Page::at(std::string_view pointer) const { return cloud::at(json(), pointer); }

Url::Url(std::string_view text) {
    secure = text.starts_with("https://");
    if (const auto scheme = text.find("://"); scheme != std::string_view::npos)
        text.remove_prefix(scheme + 3);
    const auto end = std::min(text.find('/'), text.size());
    authority = text.substr(0, end);
    target = end < text.size() ? std::string{text.substr(end)} : "/";
    const auto colon = authority.rfind(':');
    host = authority.substr(0, colon);
    address = "127.0.0.1:" + (colon == std::string::npos ? "80" : authority.substr(colon + 1));
}

void Web::believe(std::string authority_pem) {
    believed_ = std::make_shared<const Credentials>(Credentials{"", "", std::move(authority_pem)});
}

http::Endpoint Web::endpoint(const Url& to) const {
    http::Endpoint endpoint{to.address};
    if (to.secure) endpoint.secure = Secure{.own = believed_, .expect = "https://" + to.host};
    return endpoint;
}

Page Web::fetch(std::string method, const std::string& url, http::Headers headers, std::string body,
                Duration within) {
    const Url to{url};
    http::Request request{.method = std::move(method),
                          .target = to.target,
                          .headers = std::move(headers),
                          .body = std::move(body)};
    request.headers.set("Host", to.authority);
    auto page = go(fetch_page(client_, endpoint(to), std::move(request), within), within + 10s);
    return page ? std::move(*page) : Page{.status = 0, .headers = {}, .body = page.error().message};
}

std::vector<Page> Web::fetch_all(const std::vector<std::string>& urls) {
    std::vector<Page> pages(urls.size());
    std::size_t left = urls.size();
    TaskGroup group{loop};
    for (std::size_t i = 0; i < urls.size(); ++i) {
        const Url to{urls[i]};
        http::Request request{.target = to.target};
        request.headers.set("Host", to.authority);
        group.start("test", [](Page& into, std::size_t& counter, Task<Page> task) -> Task<> {
            auto page = co_await std::move(task);
            into = page ? std::move(*page) : Page{.status = 0, .headers = {}, .body = page.error().message};
            --counter;
            co_return Result<>{};
        }(pages[i], left, fetch_page(client_, endpoint(to), std::move(request), 30s)));
    }
    loop.restart();
    while (left > 0) loop.run_one();
    (void)go(group.close());
    return pages;
}

Page Web::unix_socket(std::string method, const std::string& socket, std::string target, std::string body) {
    http::Request request{.method = std::move(method), .target = std::move(target), .body = std::move(body)};
    request.headers.set("Host", "engine");
    request.headers.set("Content-Type", "application/json");
    auto page = go(fetch_page(client_, {"unix:" + socket}, std::move(request), 20s));
    return page ? std::move(*page) : Page{.status = 0, .headers = {}, .body = page.error().message};
}

std::vector<Web::Piece> Web::pieces(const std::string& url, http::Headers headers) {
    auto pieces = go(read_pieces(client_, *timers, endpoint(Url{url}), Url{url}, std::move(headers)));
    return pieces ? std::move(*pieces) : std::vector<Piece>{};
}

std::unique_ptr<WebSocket> Web::web_socket(const std::string& url, http::Headers headers, int* refusal) {
    auto upgraded = go(upgrade(client_, endpoint(Url{url}), Url{url}, std::move(headers)), 20s);
    if (refusal) *refusal = upgraded ? upgraded->status : 0;
    if (!upgraded || !upgraded->stream) return nullptr;
    return std::make_unique<WebSocket>(*this, std::move(upgraded->stream), *random);
}

bool WebSocket::send(Kind kind, std::string_view bytes) {
    std::string frame(1, static_cast<char>(0x80 | static_cast<int>(kind)));
    const auto size = bytes.size();
    const int more = size < 126 ? 0 : size < 65536 ? 2 : 8;
    frame += static_cast<char>(0x80 | (more == 0 ? size : more == 2 ? 126 : 127));
    for (int i = more - 1; i >= 0; --i) frame += static_cast<char>(size >> (8 * i));
    char mask[4];
    for (char& byte : mask) byte = static_cast<char>(random_number(random_));
    frame.append(mask, 4);
    for (std::size_t i = 0; i < size; ++i) frame += static_cast<char>(bytes[i] ^ mask[i % 4]);
    return web_.go(write_all(*stream_, frame), 20s).has_value();
}

std::optional<WebSocket::Message> WebSocket::receive(Duration within) {
    auto message = web_.go(read_message(*stream_), within);
    if (!message) return std::nullopt;
    return std::move(*message);
}

bool WebSocket::echoes(Kind kind, std::string_view bytes) {
    if (!send(kind, bytes)) return false;
    const auto back = receive();
    return back && back->kind == kind && back->bytes == bytes;
}

}  // namespace hostler::cloud
