#include "adapters/remote_write/sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "core/log.h"
#include "core/version.h"

namespace hostler::remote_write {

namespace {

// The specification: 2xx is taken, 5xx is to be tried again. So is 429, and what an operator mends: a key, a
// path.
bool is_refused(int status) {
    constexpr int mended[] = {401, 403, 404, 408, 429};
    return status >= 400 && status < 500 && std::ranges::find(mended, status) == std::end(mended);
}

// Seconds; a date counts as nothing said.
Duration retry_after(const HttpAnswer& answer) {
    const std::string_view text = answer.header("Retry-After");
    int seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    return error == std::errc{} && end == text.data() + text.size() && seconds > 0
               ? std::chrono::seconds{seconds}
               : std::chrono::seconds{0};
}

std::string line_of(const std::string& file) {
    std::ifstream in{file};
    std::string line;
    std::getline(in, line);
    return line;
}

}  // namespace

Task<> Sender::run() {
    while (true) {
        auto message = co_await backlog_.first();
        if (!message && message.error().code == Code::cancelled) co_return Result<>{};
        Result<> settled;
        if (message) {
            settled = co_await settle(std::move(*message));
            if (settled) settled = co_await backlog_.done();
        } else {
            settled = std::unexpected(message.error());
        }
        if (settled) continue;
        if (settled.error().code == Code::cancelled) co_return Result<>{};
        log_warn("remote-write: {}", settled.error().message);
        CO_TRY(co_await rest({}));
    }
}

Task<> Sender::settle(Message message) {
    std::vector<Message> parts{std::move(message)};
    for (int requests = 0; !parts.empty(); ++requests) {
        Message part = std::move(parts.back());
        parts.pop_back();
        if (CO_TRY(co_await deliver(part)) == Fate::taken) {
            count_.sent += part.samples;
            continue;
        }
        auto two = halves(part);
        if (requests < parts_max && two && two->size() == 2) {
            parts.push_back(std::move((*two)[1]));
            parts.push_back(std::move((*two)[0]));
        } else {
            count_.refused += part.samples;
        }
    }
    co_return Result<>{};
}

Task<Sender::Fate> Sender::deliver(const Message& message) {
    while (true) {
        const auto answer = co_await request(message);
        if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
        if (answer && answer->status >= 200 && answer->status < 300) {
            if (std::exchange(in_trouble_, false))
                log_info("remote-write: {} takes samples again", target_.url);
            backoff_ = {};
            co_return Fate::taken;
        }
        const std::string why =
            answer ? fmt::format("answers {}: {}", answer->status, answer->body.substr(0, 300))
                   : answer.error().message;
        if (answer && is_refused(answer->status)) {
            log_warn("remote-write: {} refuses {} samples: {}", target_.url, message.samples, why);
            co_return Fate::refused;
        }
        ++count_.failed;
        if (!std::exchange(in_trouble_, true))
            log_warn("remote-write: {}: {}; samples are kept until it takes them", target_.url, why);
        CO_TRY(co_await rest(answer ? retry_after(*answer) : Duration{}));
    }
}

Task<HttpAnswer> Sender::request(const Message& message) {
    HttpCall call{.url = target_.url,
                  .headers = target_.headers,
                  .body = message.body,
                  .authorities = target_.authorities,
                  .reach = Reach::anywhere,
                  .deadline = target_.deadline};
    call.headers.emplace_back("Content-Type", "application/x-protobuf");
    call.headers.emplace_back("Content-Encoding", "snappy");
    call.headers.emplace_back("X-Prometheus-Remote-Write-Version", "0.1.0");
    if (!target_.token_file.empty())
        call.headers.emplace_back("Authorization", "Bearer " + line_of(target_.token_file));
    co_return co_await outgoing_.send(std::move(call));
}

Task<> Sender::rest(Duration asked) {
    backoff_ = std::clamp(backoff_ * 2, target_.backoff_min, target_.backoff_max);
    co_return co_await sleep(timers_, std::max(backoff_, std::min(asked, target_.retry_after_max)));
}

}  // namespace hostler::remote_write
