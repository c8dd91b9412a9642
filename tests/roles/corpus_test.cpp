// The HTTP corpus against the shipped gateway: real sockets, access point and tunnel, and an origin that
// records each byte it gets. What the origin and the client read is taken apart here, by neither of ours.
#include "http/testing/corpus.h"
#include "rig.h"

namespace hostler::rig {
namespace {

using http::testing::Answered;
using http::testing::Asked;
using ::testing::HasSubstr;
using ::testing::Not;

struct Message {
    std::string first;
    std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.
    std::string body;
    bool whole = false;

    int count(std::string_view name) const {
        return static_cast<int>(
            std::ranges::count_if(headers, [&](const auto& header) { return header.first == name; }));
    }
    std::string find(std::string_view name) const {
        for (const auto& [key, value] : headers)
            if (key == name) return value;
        return {};
    }
};

std::string until(std::string_view& text, std::string_view mark) {
    const auto at = text.find(mark);
    std::string before{text.substr(0, at)};
    text.remove_prefix(at == text.npos ? text.size() : at + mark.size());
    return before;
}

Message head_of(std::string_view text) {
    Message message;
    message.first = until(text, "\r\n");
    while (!text.empty()) {
        auto line = until(text, "\r\n");
        const auto colon = std::min(line.find(':'), line.size());
        std::string name = line.substr(0, colon);
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
        message.headers.emplace_back(name, line.substr(std::min(colon + 2, line.size())));
    }
    return message;
}

// The chunks' content, and whether the last one is there.
bool take_chunks(std::string_view& rest, std::string& body) {
    while (true) {
        if (!rest.contains("\r\n")) return false;
        const auto size = std::stoull(until(rest, "\r\n"), nullptr, 16);
        if (size == 0) break;
        if (rest.size() < size + 2) return false;
        body += rest.substr(0, size);
        rest.remove_prefix(size + 2);
    }
    while (rest.contains("\r\n"))
        if (until(rest, "\r\n").empty()) return true;
    return false;
}

// Takes one message off the front of `bytes`, or as much of one as there is.
Message take(std::string_view& bytes, bool answer_to_head = false) {
    if (!bytes.contains("\r\n\r\n")) return {};
    std::string_view rest = bytes;
    auto message = head_of(until(rest, "\r\n\r\n"));
    const bool answer = message.first.starts_with("HTTP/");
    const bool bodiless = answer && (answer_to_head || message.first.substr(9, 3) == "204" ||
                                     message.first.substr(9, 3) == "304" || message.first[9] == '1');
    if (bodiless) {
        message.whole = true;
    } else if (message.count("transfer-encoding") > 0) {
        message.whole = take_chunks(rest, message.body);
    } else if (message.count("content-length") > 0) {
        const auto size = std::stoull(message.find("content-length"));
        message.body = rest.substr(0, size);
        message.whole = message.body.size() == size;
        rest.remove_prefix(message.body.size());
    } else if (answer) {
        message.body = rest;
        message.whole = true;
        rest = {};
    } else {
        message.whole = true;
    }
    if (message.whole) bytes = rest;
    return message;
}

class CorpusTest : public ::testing::Test {
protected:
    CorpusTest() {
        agent_ = std::make_unique<Agent>(cloud_, "h-1", cloud_.access->addresses().uplink);
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
        cloud_.add_route("x", "h-1", true);
    }

    // Answers each request, and notes it as the corpus writes it.
    Task<> take_requests(StreamPtr stream) {
        std::string bytes;
        std::array<char, 4096> into{};
        while (true) {
            const auto size = CO_TRY(co_await read_some(*stream, into));
            if (size == 0) co_return Result<>{};
            bytes.append(into.data(), size);
            raw_.append(into.data(), size);
            std::string_view rest = bytes;
            for (auto request = take(rest); request.whole; request = take(rest)) {
                note(request);
                const bool head = request.first.starts_with("HEAD ");
                CO_TRY(co_await write_all(
                    *stream,
                    fmt::format("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", head ? "" : "ok")));
            }
            bytes.erase(0, bytes.size() - rest.size());
        }
    }

    void note(const Message& request) {
        if (!seen_.empty()) seen_ += "\n";
        seen_ += request.first.substr(0, request.first.rfind(' ')) + " " + request.body;
        EXPECT_EQ(request.count("host"), 1) << request.first;
        EXPECT_LE(request.count("content-length") + request.count("transfer-encoding"), 1) << request.first;
    }

    // Answers the first request with these bytes, whatever it was, and ends.
    Task<> give(StreamPtr stream) {
        std::string bytes;
        std::array<char, 4096> into{};
        while (!bytes.contains("\r\n\r\n")) {
            const auto size = CO_TRY(co_await read_some(*stream, into));
            if (size == 0) co_return Result<>{};
            bytes.append(into.data(), size);
        }
        if (!answer_.empty()) CO_TRY(co_await write_all(*stream, answer_));
        co_return co_await stream->finish();
    }

    // All that the gateway says until it ends the connection.
    std::string tell(const std::string& bytes) {
        const auto heard =
            cloud_.go([](World& world, std::string address, std::string said) -> Task<std::string> {
                const auto stream = CO_TRY(co_await world.net->dial(address, 5s));
                (void)co_await write_all(*stream, said);  // It may be refused half-way.
                std::string all;
                std::array<char, 4096> into{};
                while (true) {
                    const auto size = co_await read_some(*stream, into);
                    if (!size && size.error().code == Code::cancelled)
                        co_return std::unexpected(size.error());
                    if (!size || *size == 0) co_return all;
                    all.append(into.data(), *size);
                }
            }(cloud_, cloud_.gateway->address(), bytes));
        EXPECT_TRUE(heard) << "the gateway does not end the connection";
        return heard.value_or("");
    }

    // Sends the case and one request more, which shows whether both sides still agree where they are.
    void ask(const Asked& one) {
        seen_.clear(), raw_.clear();
        const auto heard =
            tell(one.bytes + "GET /last HTTP/1.1\r\nHost: x.localhost\r\nConnection: close\r\n\r\n");
        const int status = heard.size() > 12 ? std::atoi(heard.substr(9, 3).c_str()) : 0;
        const int wanted = one.at_gateway != 0 ? one.at_gateway : one.status;
        EXPECT_EQ(status, wanted) << heard;
        const bool refused = one.status >= 400 && one.status != 404;
        if (refused)
            accepted_wrongly_ += status < 400 || !seen_.empty();
        else
            refused_wrongly_ += status != wanted;
        const bool over =
            refused || one.bytes.contains("HTTP/1.0\r\n") || one.bytes.contains("Connection: close");
        std::string seen{one.seen};
        if (!over) seen += std::string{seen.empty() ? "" : "\n"} + "GET /last ";
        EXPECT_EQ(seen_, seen);
        EXPECT_THAT(raw_, Not(HasSubstr("evil")));
        ++cases_;
    }

    void answer(const Answered& one) {
        answer_ = one.bytes;
        const std::string over = one.more.contains("Connection:") ? "" : "Connection: close\r\n";
        const auto heard =
            tell(fmt::format("{} / HTTP/1.1\r\nHost: x.localhost\r\n{}{}\r\n", one.method, one.more, over));
        std::string_view rest = heard;
        auto reply = take(rest, one.method == "HEAD");
        while (reply.whole && reply.first.starts_with("HTTP/1.1 1")) reply = take(rest, one.method == "HEAD");
        const int status = reply.first.size() > 12 ? std::atoi(reply.first.substr(9, 3).c_str()) : 0;
        EXPECT_EQ(status, one.status) << heard;
        EXPECT_EQ(reply.whole, !one.cut) << heard;
        if (one.status != 502) EXPECT_EQ(reply.body, one.body);
        if (reply.whole) EXPECT_EQ(rest, "") << "more than one answer";
        EXPECT_THAT(heard, Not(HasSubstr("evil")));
        (one.status == 502 ? accepted_wrongly_ : refused_wrongly_) += status != one.status;
        ++cases_;
    }

    void run(const std::vector<http::testing::Part<Asked>>& parts) {
        agent_->origin = [this](StreamPtr stream) { return take_requests(std::move(stream)); };
        for (const auto& part : parts)
            for (const auto& one : part.cases) {
                SCOPED_TRACE(one.name);
                ask(one);
            }
    }
    void run(const std::vector<http::testing::Part<Answered>>& parts) {
        agent_->origin = [this](StreamPtr stream) { return give(std::move(stream)); };
        for (const auto& part : parts)
            for (const auto& one : part.cases) {
                SCOPED_TRACE(one.name);
                answer(one);
            }
    }
    void verdict(int at_least) {
        fmt::print("{} cases: {} accepted that must be refused, {} refused that must be accepted\n", cases_,
                   accepted_wrongly_, refused_wrongly_);
        EXPECT_EQ(accepted_wrongly_, 0);
        EXPECT_EQ(refused_wrongly_, 0);
        EXPECT_GE(cases_, at_least);
    }

    Cloud cloud_;
    std::unique_ptr<Agent> agent_;
    std::string seen_, raw_, answer_;
    int cases_ = 0, accepted_wrongly_ = 0, refused_wrongly_ = 0;
};

TEST_F(CorpusTest, RequestHeads) {
    run(http::testing::heads());
    verdict(80);
}

TEST_F(CorpusTest, RequestBodies) {
    run(http::testing::bodies());
    verdict(70);
}

TEST_F(CorpusTest, Exchanges) {
    run(http::testing::exchanges());
    verdict(30);
}

TEST_F(CorpusTest, Answers) {
    run(http::testing::answers());
    verdict(50);
}

}  // namespace
}  // namespace hostler::rig
