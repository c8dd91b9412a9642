#include "http/inlet.h"

#include "core/task_group.h"

namespace hostler::http {

void Drain::begin() {
    begun_ = true;
    for (auto* member : std::vector<Member*>{members_}) member->on_begin_();
}

Drain::Member::Member(Drain* drain, std::move_only_function<void()> on_begin)
    : drain_(drain), on_begin_(std::move(on_begin)) {
    if (drain_ != nullptr) drain_->members_.push_back(this);
}

Drain::Member::~Member() {
    if (drain_ != nullptr) std::erase(drain_->members_, this);
}

namespace {

constexpr std::string_view late_head =
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

std::unexpected<Error> too_large(std::uint64_t max) {
    return fail(Code::invalid, fmt::format("the request's body is larger than {} bytes", max),
                std::string{body_too_large});
}

// "Sat, 21 Nov 2026 12:00:00 GMT", made anew once a second.
std::string_view http_date(WallTime time) {
    thread_local std::chrono::sys_seconds made{std::chrono::sys_seconds::max()};
    thread_local std::string text;
    const auto now = std::chrono::floor<std::chrono::seconds>(time);
    if (now == made) return text;
    made = now;
    constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = std::chrono::floor<std::chrono::days>(now);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{now - day};
    text = fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                       days[std::chrono::weekday{day}.c_encoding()], static_cast<unsigned>(date.day()),
                       months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
    return text;
}

}  // namespace

Inlet::Inlet(StreamPtr stream, Timers& timers, const ServerLimits& limits, Drain* drain, Place* place)
    : conn_(std::move(stream), timers),
      limits_(limits),
      member_(drain,
              [this] {
                  if (idle_) conn_.close();
              }),
      place_(place) {}

Task<bool> Inlet::next() {
    while (true) {
        if (place_ != nullptr) place_->rests();
        const bool settled = first_ || (started_ && ended_ && !over_ && body_.done() && !conn_.released());
        if (!settled && !CO_TRY(co_await settle())) co_return false;
        if (over_ || (member_.begun() && conn_.ahead().empty())) {
            if (!over_) conn_.close();
            over_ = true;
            co_return false;
        }
        first_ = false;
        request_id_.clear();
        auto more = co_await read_head();
        if (!more || !*more) {
            over_ = true;
            conn_.close();
        }
        if (!more || !*more || has_room_for_client()) co_return more;
        (void)co_await respond(text_response(429, "your address has all the connections here that it may"));
        CO_TRY(co_await check_cancelled());
    }
}

// Whose request this is was not known when its connection was let in.
bool Inlet::has_room_for_client() {
    if (place_ == nullptr || place_->shared_by() == nullptr) return true;
    origin_ = place_->shared_by()->origin_of(head_, conn_.stream().address());
    return place_->belongs_to(origin_.address);
}

// Whether the connection is fit for another request after the one that has been answered.
Task<bool> Inlet::settle() {
    if (conn_.released()) co_return false;
    if (over_ && started_ && ended_) {
        CO_TRY(co_await linger());
        co_return false;
    }
    if (over_ || !started_ || !ended_) {
        abandon();
        co_return false;
    }
    // What nobody read of the body. A client that still waits for 100 may or may not send it: no telling.
    const std::uint64_t before = body_.content_size();
    while (!body_.done()) {
        const auto step = body_.step(conn_.ahead());
        const bool enough = body_.content_size() - before > limits_.discard_bytes_max;
        if (!step || waits_for_continue_ || enough) {
            CO_TRY(co_await linger());
            over_ = true;
            co_return false;
        }
        conn_.consume(step->taken);
        if (step->taken == 0 && !CO_TRY(co_await conn_.fill(limits_.body_time))) {
            abandon();
            co_return false;
        }
    }
    co_return true;
}

// Closing with bytes unread makes the kernel throw our last words away: let the peer read them first.
Task<> Inlet::linger() {
    if (!co_await conn_.stream().finish()) co_return Result<>{};
    const Instant end = conn_.timers().now() + limits_.linger_time;
    for (std::uint64_t size = 0; size < limits_.discard_bytes_max;) {
        const Duration left = end - conn_.timers().now();
        if (left <= Duration::zero()) break;
        conn_.consume(conn_.ahead().size());
        const auto more = co_await conn_.fill(left);
        if (!more || !*more) break;
        size += conn_.ahead().size();
    }
    conn_.close();
    CO_TRY(co_await check_cancelled());
    co_return Result<>{};
}

Task<bool> Inlet::read_head() {
    started_ = ended_ = chunked_ = bodiless_ = waits_for_continue_ = false;
    body_.reset({});
    body_bytes_max_ = limits_.body_bytes_max;
    scanner_.reset();
    if (conn_.ahead().empty()) {
        idle_ = true;
        conn_.set_last_words({});
        const bool fresh = std::exchange(fresh_, false);
        const auto more = co_await conn_.fill(fresh ? limits_.first_time : limits_.keep_alive_time,
                                              fresh ? Conn::First::look : Conn::First::wait);
        idle_ = false;
        if (!more && more.error().code == Code::timeout && fresh && place_ != nullptr) place_->was_late();
        if (!more && more.error().code != Code::cancelled) co_return false;
        if (!CO_TRY(more)) co_return false;
    }
    const Instant end = conn_.timers().now() + limits_.head_time;
    bool blank_line = false;
    while (true) {
        // An empty line before a request was once customary after a POST.
        if (!blank_line && conn_.ahead().starts_with("\r\n")) {
            conn_.consume(2);
            scanner_.reset();
            blank_line = true;
        }
        const auto found = (conn_.ahead() == "\r" && !blank_line) || conn_.ahead().empty()
                               ? HeadScanner::Found::more
                               : scanner_.scan(conn_.ahead(), limits_.head);
        if (found == HeadScanner::Found::head) break;
        if (found != HeadScanner::Found::more) {
            CO_TRY(co_await refuse(bad_head(found)));
            co_return false;
        }
        conn_.set_last_words(late_head);
        const auto more = co_await conn_.fill(std::max(end - conn_.timers().now(), Duration{1}));
        conn_.set_last_words({});
        if (!more && more.error().code == Code::cancelled) co_return std::unexpected(more.error());
        if (!more || !*more) co_return false;
    }
    const auto good = parse(conn_.ahead().substr(0, scanner_.size()), limits_.head, head_);
    conn_.consume(scanner_.size());
    if (!good) {
        CO_TRY(co_await refuse(good.error()));
        co_return false;
    }
    body_.reset(head_.framing);
    waits_for_continue_ = head_.expects_continue && !body_.done() && conn_.ahead().empty();
    if (!head_.keep_alive || member_.begun()) over_ = true;
    if (place_ != nullptr) place_->asks();
    co_return true;
}

Task<> Inlet::refuse(BadHead bad) {
    head_.method = "GET";
    head_.minor = 1;
    over_ = true;
    CO_TRY(co_await respond(text_response(bad.status, bad.what)));
    co_return co_await linger();
}

Task<> Inlet::send_continue() {
    if (!std::exchange(waits_for_continue_, false)) co_return Result<>{};
    co_return co_await conn_.send("HTTP/1.1 100 Continue\r\n\r\n", limits_.write_time);
}

Task<std::size_t> Inlet::read_body(std::span<char> into) {
    if (body_.done() || into.empty()) co_return std::size_t{0};
    const auto& framing = head_.framing;
    if (framing.kind == Framing::Kind::length && framing.length > body_bytes_max_) {
        over_ = true;
        co_return too_large(body_bytes_max_);
    }
    CO_TRY(co_await send_continue());
    while (true) {
        const auto step = body_.step(conn_.ahead(), into.size());
        if (!step) {
            over_ = true;
            co_return fail(Code::invalid, std::string{step.error().what});
        }
        if (body_.content_size() > body_bytes_max_) {
            over_ = true;
            co_return too_large(body_bytes_max_);
        }
        const std::size_t size = step->content.copy(into.data(), step->content.size());
        conn_.consume(step->taken);
        if (size > 0) co_return size;
        if (body_.done()) co_return std::size_t{0};
        if (step->taken > 0) continue;
        const auto more = co_await conn_.fill(limits_.body_time);
        if (!more) over_ = true;
        if (!CO_TRY(more)) {
            over_ = true;
            co_return fail(Code::unavailable, "the client ended in the middle of the request's body");
        }
    }
}

void Inlet::head_of(std::string& into, Response& response, bool whole) {
    auto& headers = response.headers;
    headers.remove("Transfer-Encoding");
    headers.remove("Connection");
    const bool head_only = head_.method == "HEAD";
    bodiless_ = head_only || has_no_body(response.status);
    const auto length = headers.find("Content-Length");
    chunked_ = counted_ = false;
    if (has_no_body(response.status)) {
        headers.remove("Content-Length");
    } else if (whole) {
        if (!(head_only && length && response.body.empty()))
            headers.set("Content-Length", std::to_string(response.body.size()));
    } else if (!length) {
        chunked_ = head_.minor == 1;
        if (chunked_)
            headers.add("Transfer-Encoding", "chunked");
        else
            over_ = true;
    } else {
        counted_ = true;
        promised_ = std::strtoull(std::string{*length}.c_str(), nullptr, 10);
    }
    if (!headers.has("Date")) headers.add("Date", std::string{http_date(conn_.timers().wall())});
    if (!transport_security_.empty())
        headers.set("Strict-Transport-Security", std::string{transport_security_});
    if (!request_id_.empty()) headers.set("X-Request-Id", request_id_);
    if (response.status == 101)
        headers.add("Connection", "Upgrade");
    else if (over_ || member_.begun())
        headers.add("Connection", "close");
    else if (head_.minor == 0)
        headers.add("Connection", "keep-alive");
    over_ |= member_.begun();
    write_head(into, response);
}

Task<> Inlet::respond(Response response) {
    HOSTLER_ASSERT(!started_ && "one request has one answer");
    started_ = true;
    text_.clear();
    head_of(text_, response, true);
    const std::array buffers{asio::const_buffer{text_.data(), text_.size()},
                             asio::const_buffer{response.body.data(), bodiless_ ? 0 : response.body.size()}};
    const auto sent = co_await conn_.send(buffers, limits_.write_time);
    if (!sent) over_ = true;
    ended_ = sent.has_value();
    co_return sent;
}

Task<> Inlet::start(Response head) {
    HOSTLER_ASSERT(!started_ && "one request has one answer");
    started_ = true;
    text_.clear();
    head_of(text_, head, false);
    const auto sent = co_await conn_.send(text_, limits_.write_time);
    if (!sent) over_ = true;
    if (!sent) co_return sent;
    if (!head.body.empty()) co_return co_await write(head.body);
    co_return Result<>{};
}

Task<> Inlet::write(std::string_view piece) {
    HOSTLER_ASSERT(started_ && !ended_ && "write() stands between start() and end()");
    if (piece.empty() || bodiless_) co_return Result<>{};
    Result<> sent;
    if (chunked_) {
        std::array<char, 20> size{};
        const auto end = fmt::format_to(size.data(), "{:x}\r\n", piece.size());
        const std::array buffers{asio::const_buffer{size.data(), static_cast<std::size_t>(end - size.data())},
                                 asio::const_buffer{piece.data(), piece.size()},
                                 asio::const_buffer{"\r\n", 2}};
        sent = co_await conn_.send(buffers, limits_.write_time);
    } else {
        if (counted_) {
            HOSTLER_ASSERT(piece.size() <= promised_ && "more was written than Content-Length promised");
            promised_ -= piece.size();
        }
        sent = co_await conn_.send(piece, limits_.write_time);
    }
    if (!sent) over_ = true;
    co_return sent;
}

Task<> Inlet::end() {
    HOSTLER_ASSERT(started_ && !ended_ && "end() follows start(), once");
    if (chunked_ && !bodiless_) {
        const auto sent = co_await conn_.send("0\r\n\r\n", limits_.write_time);
        if (!sent) over_ = true;
        if (!sent) co_return sent;
    }
    if (counted_ && !bodiless_ && promised_ > 0)
        abandon();  // Cut short: the client must not take it for whole.
    ended_ = true;
    co_return Result<>{};
}

Task<StreamPtr> Inlet::upgrade(Response head) {
    head.status = 101;
    head.body.clear();
    over_ = false;  // Connection says Upgrade here, not close.
    const auto sent = co_await respond(std::move(head));
    over_ = true;
    if (!sent) co_return std::unexpected(sent.error());
    co_return conn_.release();
}

}  // namespace hostler::http
