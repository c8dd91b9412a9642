// For tests: two Streams joined in memory, with room for a bounded number of bytes each way.
#pragma once

#include <memory>
#include <string>

#include "core/signal.h"
#include "core/stream.h"

namespace hostler::testing {

// One end. Who holds a raw pointer to it may look at what has not been read yet, or cut the wire.
class MemoryStream : public Stream {
    struct Pipe {
        std::string bytes;
        std::size_t room = 0;
        bool finished = false;  // The writer will send no more.
        bool broken = false;    // The reader has gone: writing fails.
        Signal changed;
    };

public:
    MemoryStream(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out, std::string address,
                 std::string identity)
        : in_(std::move(in)),
          out_(std::move(out)),
          address_(std::move(address)),
          identity_(std::move(identity)) {}
    ~MemoryStream() override { close(); }

    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        if (closed_) return fail(Code::unavailable, "the connection is closed");
        if (into.empty()) return std::size_t{0};
        if (in_->bytes.empty()) {
            if (in_->finished) return std::size_t{0};
            return std::nullopt;
        }
        const std::size_t size = std::min({into.size(), in_->bytes.size(), read_max});
        in_->bytes.copy(into.data(), size);
        in_->bytes.erase(0, size);
        in_->changed.notify_all();
        return size;
    }

    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        if (closed_ || finished_ || out_->broken) return fail(Code::unavailable, "the connection is closed");
        std::size_t taken = 0;
        bool any = false;
        for (const auto& buffer : from) {
            const std::size_t room = std::min(out_->room - out_->bytes.size(), write_max - taken);
            const std::size_t size = std::min(buffer.size(), room);
            any |= buffer.size() > 0;
            out_->bytes.append(static_cast<const char*>(buffer.data()), size);
            taken += size;
            if (size < buffer.size()) break;
        }
        if (taken == 0 && any) return std::nullopt;
        out_->changed.notify_all();
        return taken;
    }

    Task<> readable() override {
        const auto in = in_;
        while (!closed_ && in->bytes.empty() && !in->finished) CO_TRY(co_await in->changed.wait());
        if (closed_) co_return fail(Code::cancelled, "the connection was closed");
        co_return Result<>{};
    }

    Task<> writable() override {
        const auto out = out_;
        while (!closed_ && !out->broken && out->bytes.size() >= out->room)
            CO_TRY(co_await out->changed.wait());
        if (closed_) co_return fail(Code::cancelled, "the connection was closed");
        co_return Result<>{};
    }

    Task<> finish() override {
        finished_ = true;
        out_->finished = true;
        out_->changed.notify_all();
        co_return Result<>{};
    }

    void close() override {
        closed_ = true;
        out_->finished = true;
        in_->broken = true;
        in_->changed.notify_all();
        out_->changed.notify_all();
    }

    std::string_view identity() const override { return identity_; }
    void set_identity(std::string of_peer) { identity_ = std::move(of_peer); }
    std::string_view address() const override { return address_; }

    bool closed() const { return closed_; }
    std::string_view unread() const { return in_->bytes; }  // What came and was not read.

    std::size_t read_max = SIZE_MAX;   // At most so many bytes a read: 1 makes a slow, dribbling peer.
    std::size_t write_max = SIZE_MAX;  // At most so many bytes a write.

private:
    friend std::pair<std::unique_ptr<MemoryStream>, std::unique_ptr<MemoryStream>> memory_pair(std::size_t,
                                                                                               std::string,
                                                                                               std::string);

    std::shared_ptr<Pipe> in_;
    std::shared_ptr<Pipe> out_;
    std::string address_;
    std::string identity_;
    bool closed_ = false;
    bool finished_ = false;
};

// Each end sees the other under the name given here. `room`: bytes each way before a writer has to wait.
inline std::pair<std::unique_ptr<MemoryStream>, std::unique_ptr<MemoryStream>> memory_pair(
    std::size_t room = 64 * 1024, std::string first = "memory:1", std::string second = "memory:2") {
    auto there = std::make_shared<MemoryStream::Pipe>();
    auto back = std::make_shared<MemoryStream::Pipe>();
    there->room = back->room = room;
    return {std::make_unique<MemoryStream>(back, there, second, ""),
            std::make_unique<MemoryStream>(there, back, first, "")};
}

}  // namespace hostler::testing
