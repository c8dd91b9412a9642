#include "http/conversation.h"

#include <fmt/format.h>

#include "core/task_group.h"
#include "http/conn.h"

namespace hostler::http {

namespace {

constexpr std::size_t head_bytes = 9;
constexpr std::size_t batch_bytes_max = 64 * 1024;  // Handed to the connection at once.
constexpr std::size_t overhead_bytes = 64;          // Of a kept message, so that empty ones count.

Code code_named(std::string_view word) {
    for (const Code code :
         {Code::invalid, Code::unauthenticated, Code::forbidden, Code::not_found, Code::conflict,
          Code::exhausted, Code::unavailable, Code::timeout, Code::cancelled})
        if (name(code) == word) return code;
    return Code::internal;
}

std::string encode(Channel channel, std::uint64_t number, std::string_view bytes) {
    std::string message;
    message.reserve(head_bytes + bytes.size());
    message += static_cast<char>(channel);
    for (int shift = 56; shift >= 0; shift -= 8) message += static_cast<char>(number >> shift);
    message += bytes;
    return message;
}

}  // namespace

std::string encode_exit(const Exit& exit) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes += static_cast<char>(static_cast<std::uint32_t>(exit.code) >> shift);
    if (!exit.error) return bytes;
    return bytes + fmt::format("{}\n{}\n{}", name(exit.error->code), exit.error->reason, exit.error->message);
}

Result<Exit> decode_exit(std::string_view bytes) {
    if (bytes.size() < 4) return fail(Code::invalid, "how it ended is not told");
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i)
        code = code << 8 | static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(i)]);
    Exit exit{.code = static_cast<int>(code)};
    bytes.remove_prefix(4);
    if (bytes.empty()) return exit;
    const auto first = bytes.find('\n');
    const auto second = first == std::string_view::npos ? first : bytes.find('\n', first + 1);
    if (second == std::string_view::npos) return fail(Code::invalid, "how it ended is not told");
    exit.error = Error{code_named(bytes.substr(0, first)), std::string{bytes.substr(second + 1)},
                       std::string{bytes.substr(first + 1, second - first - 1)}};
    return exit;
}

// One connection, as long as carry() has it.
struct Conversation::Wires {
    Wires(Conversation& of, StreamPtr with)
        : stream(std::move(with)), reader(of.own_, head_bytes + of.limits_.message_bytes_max) {}
    StreamPtr stream;
    WebSocketReader reader;
    std::vector<WebSocketMessage> whole;
    std::string control;        // Pongs to be written.
    std::size_t next = 0;       // Of kept_: what is written next.
    std::uint64_t told = 0;     // The acknowledgement that was written last,
    bool greeted = false;       // if any.
    bool peer_greeted = false;  // It has told what it has.
    bool ping = false;          // To be written.
    bool over = false;
    std::optional<Error> why;
    void end(Error error) {
        if (!why) why = std::move(error);
        over = true;
        stream->close();
    }
};

Conversation::Conversation(Loop& loop, Timers& timers, WebSocketSide own, std::function<std::uint32_t()> dice,
                           ConversationLimits limits)
    : loop_(loop), timers_(timers), own_(own), dice_(std::move(dice)), limits_(limits) {}

void Conversation::close() {
    closed_ = true;
    if (stream_) stream_->close();
    changed_.notify_all();
}

Task<> Conversation::send(Channel channel, std::string bytes) {
    if (bytes.size() > limits_.message_bytes_max) co_return fail(Code::invalid, "the message is too large");
    while (!closed_ && kept_bytes_ > 0 &&
           kept_bytes_ + bytes.size() + overhead_bytes > limits_.unacknowledged_bytes_max)
        CO_TRY(co_await changed_.wait());
    if (closed_) co_return fail(Code::unavailable, "the session is closed");
    kept_bytes_ += bytes.size() + overhead_bytes;
    kept_.push_back({++sent_last_, encode(channel, sent_last_, bytes)});
    changed_.notify_all();
    co_return Result<>{};
}

Task<Message> Conversation::receive() {
    while (come_.empty()) {
        if (closed_) co_return fail(Code::unavailable, "the session is closed");
        CO_TRY(co_await changed_.wait());
    }
    Message message = std::move(come_.front());
    come_.pop_front();
    come_bytes_ -= message.bytes.size() + overhead_bytes;
    changed_.notify_all();  // It is acknowledged.
    co_return message;
}

Task<> Conversation::acknowledged() {
    while (!kept_.empty()) {
        if (closed_) co_return fail(Code::unavailable, "the session is closed");
        CO_TRY(co_await changed_.wait());
    }
    co_return Result<>{};
}

Task<> Conversation::carry(StreamPtr stream) {
    Wires wires{*this, std::move(stream)};
    if (closed_) co_return fail(Code::unavailable, "the session is closed");
    if (Stream* const before = std::exchange(stream_, wires.stream.get())) before->close();
    changed_.notify_all();
    int running = 2;
    Signal ended;
    TaskGroup tasks{loop_};
    const auto half = [](Wires& of, Task<> task, int& left, Signal& done) -> Task<> {
        auto worked = co_await std::move(task);
        of.end(worked ? Error{Code::unavailable, "the connection was closed"} : std::move(worked).error());
        --left;
        done.notify_all();
        co_return Result<>{};
    };
    tasks.start("session", half(wires, read(wires), running, ended));
    tasks.start("session", half(wires, write(wires), running, ended));
    Result<> waited{};
    while (running > 0 && waited) {
        waited = co_await ended.wait();
        changed_.notify_all();
    }
    const bool taken_over = stream_ != wires.stream.get();
    if (!taken_over) stream_ = nullptr;
    (void)co_await tasks.close();
    CO_TRY(std::move(waited));
    if (taken_over)
        co_return fail(Code::conflict, "another connection took over the session", std::string{replaced});
    Error why = wires.why.value_or(Error{Code::unavailable, "the connection was closed"});
    // Its stream was closed under it.
    if (why.code == Code::cancelled) why = {Code::unavailable, "the connection was closed"};
    co_return std::unexpected(std::move(why));
}

Task<> Conversation::read(Wires& wires) {
    Stream& stream = *wires.stream;
    Alarm silence{timers_,
                  [&wires] { wires.end({Code::timeout, "the other side of the session is silent"}); }};
    silence.set(limits_.silence_max);
    while (true) {
        const auto into = scratch();
        const auto size = CO_TRY(stream.try_read(into));
        if (!size) {
            CO_TRY(co_await stream.readable());
            continue;
        }
        if (*size == 0) co_return fail(Code::unavailable, "the connection was closed");
        silence.set(limits_.silence_max);
        wires.whole.clear();
        CO_TRY(wires.reader.feed({into.data(), *size}, wires.whole));
        for (auto& message : wires.whole) CO_TRY(take(wires, std::move(message)));
    }
}

Result<> Conversation::take(Wires& wires, WebSocketMessage message) {
    constexpr std::size_t control_bytes_max = 4096;  // Of pongs that wait.
    switch (message.opcode) {
        case Opcode::ping:
            if (wires.control.size() < control_bytes_max)
                write_web_socket(wires.control, own_, Opcode::pong, message.bytes, dice_());
            changed_.notify_all();
            return {};
        case Opcode::pong: return {};
        case Opcode::close: return fail(Code::unavailable, "the other side has closed the connection");
        case Opcode::text:
        case Opcode::more: return fail(Code::invalid, "a session's messages are binary");
        case Opcode::binary: break;
    }
    const std::string_view bytes = message.bytes;
    if (bytes.size() < head_bytes || static_cast<std::uint8_t>(bytes[0]) > 7)
        return fail(Code::invalid, "the received message is not part of a session");
    const auto channel = static_cast<Channel>(bytes[0]);
    std::uint64_t number = 0;
    for (std::size_t i = 1; i < head_bytes; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
    if (channel == Channel::acknowledge) return take_acknowledgement(wires, number);
    return take_numbered(channel, number, bytes.substr(head_bytes));
}

Result<> Conversation::take_acknowledgement(Wires& wires, std::uint64_t number) {
    if (number > sent_last_)
        return fail(Code::invalid, "an acknowledgement names bytes that were never sent");
    while (!kept_.empty() && kept_.front().number <= number) {
        kept_bytes_ -= kept_.front().message.size() - head_bytes + overhead_bytes;
        kept_.pop_front();
        if (wires.next > 0) --wires.next;
    }
    if (!wires.peer_greeted) wires.next = 0;
    wires.peer_greeted = true;
    changed_.notify_all();
    return {};
}

Result<> Conversation::take_numbered(Channel channel, std::uint64_t number, std::string_view bytes) {
    if (number <= come_last_) return {};  // Sent again, since our word that it came was lost.
    if (number != come_last_ + 1) return fail(Code::invalid, "a message of the session is missing");
    const std::size_t size = bytes.size() + overhead_bytes;
    // A peer that waits for acknowledgements never has more on its way.
    if (come_bytes_ + size > limits_.unacknowledged_bytes_max + limits_.message_bytes_max + overhead_bytes)
        return fail(Code::invalid, "the other side sends more than it may");
    come_last_ = number;
    come_bytes_ += size;
    come_.push_back({channel, std::string{bytes}});
    changed_.notify_all();
    return {};
}

Task<> Conversation::write(Wires& wires) {
    Alarm pings{timers_, [&] {
                    wires.ping = true;
                    changed_.notify_all();
                }};
    pings.set(limits_.ping_every);
    while (true) {
        if (wires.over) co_return Result<>{};
        std::string batch = std::exchange(wires.control, {});
        // What waits for receive() is not acknowledged: so a slow taker slows the sender.
        const std::uint64_t taken = come_last_ - come_.size();
        if (!wires.greeted || taken > wires.told) {
            write_web_socket(batch, own_, Opcode::binary, encode(Channel::acknowledge, taken, ""), dice_());
            wires.greeted = true;
            wires.told = taken;
        }
        if (std::exchange(wires.ping, false)) write_web_socket(batch, own_, Opcode::ping, "", dice_());
        while (wires.peer_greeted && wires.next < kept_.size() && batch.size() < batch_bytes_max)
            write_web_socket(batch, own_, Opcode::binary, kept_[wires.next++].message, dice_());
        if (batch.empty()) {
            CO_TRY(co_await changed_.wait());
            continue;
        }
        pings.set(limits_.ping_every);
        CO_TRY(co_await write_all(*wires.stream, batch));
    }
}

}  // namespace hostler::http
