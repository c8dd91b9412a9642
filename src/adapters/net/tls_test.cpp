// TLS over real sockets, with certificates of our own authority: who gets in, who does not, and what they are
// told.
#include <gtest/gtest.h>
#include <malloc.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "adapters/net/authority.h"
#include "adapters/net/net.h"
#include "adapters/net/socket.h"
#include "core/task_group.h"
#include "core/testing/real_timers.h"
#include "core/testing/temp_folder.h"
#include "wire/link.h"

namespace hostler::net {
namespace {

using namespace std::chrono_literals;
using testing::run_real;

class TlsTest : public ::testing::Test {
protected:
    std::unique_ptr<Authority> new_authority() {
        const testing::TempFolder folder;  // The authority has its key in memory by then.
        auto opened = open_authority(folder.path(), *random_, timers_->wall());
        EXPECT_TRUE(opened) << opened.error().message;
        return std::move(opened).value();
    }

    Credentials issue(Authority& by, Identity identity, WallTime not_before, Duration lifetime) {
        const auto key = make_keys()->make(identity).value();
        return {by.sign(key.csr_pem, identity, {}, not_before, lifetime).value().certificate, key.key_pem,
                authority_->certificate()};
    }
    std::shared_ptr<const Credentials> issue(Identity identity) {
        return std::make_shared<Credentials>(
            issue(*authority_, std::move(identity), timers_->wall() - 1min, 24h));
    }

    // Connected sockets with so little room that a record does not fit.
    std::pair<StreamPtr, StreamPtr> raw_pair(int buffer_size = 0) {
        int fds[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
        for (const int fd : fds)
            if (buffer_size > 0) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_size, sizeof buffer_size);
        return {std::make_unique<Socket>(loop_, fds[0], "client"),
                std::make_unique<Socket>(loop_, fds[1], "server")};
    }

    Task<std::pair<StreamPtr, StreamPtr>> tcp_pair() {
        const auto listener = CO_TRY(co_await net_->listen("127.0.0.1:0"));
        auto client = CO_TRY(co_await net_->dial(std::string{listener->address()}, 5s));
        auto server = CO_TRY(co_await listener->accept());
        co_return std::pair{std::move(client), std::move(server)};
    }

    struct Joined {
        Result<StreamPtr> client = StreamPtr{};
        Result<StreamPtr> server = StreamPtr{};
    };
    static Task<> put(Result<StreamPtr>& into, Task<StreamPtr> task) {
        into = co_await std::move(task);
        co_return Result<>{};
    }
    Joined join(std::pair<StreamPtr, StreamPtr> raw, Secure client, Secure server) {
        Joined joined;
        TaskGroup group{loop_};
        group.start("server",
                    put(joined.server, net_->secure(std::move(raw.second), server, Side::server, 5s)));
        group.start("client",
                    put(joined.client, net_->secure(std::move(raw.first), client, Side::client, 5s)));
        loop_.restart();
        while (group.size() > 0 && loop_.run_one() > 0) {
        }
        return joined;
    }
    Joined join(Secure client, Secure server) {
        auto raw = run_real(loop_, tcp_pair());
        EXPECT_TRUE(raw) << raw.error().message;
        return join(std::move(raw).value(), std::move(client), std::move(server));
    }

    // The server refuses, and the client learns of it at the latest when it reads.
    void expect_server_refuses(Joined joined, const std::string& words) {
        ASSERT_FALSE(joined.server) << "let in: " << (*joined.server)->identity();
        EXPECT_EQ(joined.server.error().code, Code::unauthenticated);
        EXPECT_TRUE(joined.server.error().message.contains(words)) << joined.server.error().message;
        Error told = joined.client ? Error{} : joined.client.error();
        if (joined.client) {
            std::array<char, 8> into{};
            const auto read = run_real(loop_, read_some(**joined.client, into));
            ASSERT_FALSE(read) << "a refused client could read";
            told = read.error();
        }
        EXPECT_EQ(told.code, Code::unauthenticated) << told.message;
        EXPECT_TRUE(told.message.contains("refused us")) << told.message;
    }
    void expect_client_refuses(const Joined& joined, const std::string& words) {
        ASSERT_FALSE(joined.client);
        EXPECT_EQ(joined.client.error().code, Code::unauthenticated);
        EXPECT_TRUE(joined.client.error().message.contains(words)) << joined.client.error().message;
        EXPECT_FALSE(joined.server);
    }

    Loop loop_;
    std::unique_ptr<Timers> timers_ = make_timers(loop_);
    std::unique_ptr<Net> net_ = make_net(loop_);
    std::unique_ptr<Random> random_ = make_random();
    std::unique_ptr<Authority> authority_ = new_authority();
    std::shared_ptr<const Credentials> access_ = issue({"access", "a-1"});
    std::shared_ptr<const Credentials> host_ = issue({"host", "h-1"});
};

Task<std::string> echo(Stream& from, Stream& to, std::string text) {
    CO_TRY(co_await write_all(from, text));
    std::string got(text.size(), '\0');
    CO_TRY(co_await read_exactly(to, got));
    co_return got;
}

TEST_F(TlsTest, BothEndsKnowWhoTheOtherIs) {
    for (const std::string& expect : {"access/a-1", "access/", ""}) {
        const auto joined = join({.own = host_, .expect = expect}, {.own = access_, .expect = "host/"});
        ASSERT_TRUE(joined.client) << joined.client.error().message;
        ASSERT_TRUE(joined.server) << joined.server.error().message;
        EXPECT_EQ((*joined.client)->identity(), "access/a-1");
        EXPECT_EQ((*joined.server)->identity(), "host/h-1");
        EXPECT_EQ(run_real(loop_, echo(**joined.client, **joined.server, "there")).value(), "there");
        EXPECT_EQ(run_real(loop_, echo(**joined.server, **joined.client, "back")).value(), "back");
    }
}

TEST_F(TlsTest, RefusesTheWrongRoleAndTheWrongId) {
    expect_client_refuses(join({.own = host_, .expect = "master/"}, {.own = access_}),
                          "expected master/ but it is access/a-1");
    expect_client_refuses(join({.own = host_, .expect = "access/a"}, {.own = access_}),
                          "expected access/a but it is access/a-1");
    expect_server_refuses(join({.own = host_}, {.own = access_, .expect = "host/h-2"}),
                          "expected host/h-2 but it is host/h-1");
}

TEST_F(TlsTest, RefusesWhatAnotherAuthoritySigned) {
    const auto other = new_authority();  // Of the same name, with another key.
    const auto stranger =
        std::make_shared<Credentials>(issue(*other, {"host", "h-1"}, timers_->wall() - 1min, 24h));
    expect_server_refuses(join({.own = stranger}, {.own = access_}),
                          "host/h-1 is not signed by our authority");
    expect_client_refuses(join({.own = host_}, {.own = stranger}), "host/h-1 is not signed by our authority");
}

TEST_F(TlsTest, RefusesWhatIsNotValidNow) {
    const auto old =
        std::make_shared<Credentials>(issue(*authority_, {"host", "h-1"}, timers_->wall() - 2h, 1h));
    expect_server_refuses(join({.own = old}, {.own = access_}), "the certificate of host/h-1 expired at 20");
    const auto early =
        std::make_shared<Credentials>(issue(*authority_, {"host", "h-1"}, timers_->wall() + 1h, 1h));
    expect_server_refuses(join({.own = early}, {.own = access_}), "host/h-1 is not valid before 20");
}

TEST_F(TlsTest, APeerWithoutACertificateIsLetInOnlyWhereThatIsSaid) {
    const auto trusting = std::make_shared<Credentials>("", "", authority_->certificate());
    expect_server_refuses(join({.own = trusting}, {.own = access_}), "has no certificate");
    const auto joined =
        join({.own = trusting, .expect = "access/"}, {.own = access_, .peer_required = false});
    ASSERT_TRUE(joined.server) << joined.server.error().message;
    EXPECT_EQ((*joined.server)->identity(), "");
    EXPECT_EQ((*joined.client)->identity(), "access/a-1");
    // It need not have one, but one that it shows is looked at.
    const auto other = new_authority();
    const auto stranger =
        std::make_shared<Credentials>(issue(*other, {"host", "h-1"}, timers_->wall() - 1min, 24h));
    expect_server_refuses(join({.own = stranger}, {.own = access_, .peer_required = false}),
                          "not signed by our");
    expect_server_refuses(
        join({.own = trusting}, {.own = access_, .peer_required = false, .expect = "host/"}),
        "expected host/ but it has no certificate");
}

TEST_F(TlsTest, WithoutAnAuthorityNobodyIsCheckedAndNobodyIsNamed) {
    const auto joined = join({.own = nullptr}, {.own = access_, .peer_required = false});
    ASSERT_TRUE(joined.client) << joined.client.error().message;
    EXPECT_EQ((*joined.client)->identity(), "") << "a name that nobody checked";
    const auto unchecked = std::make_shared<Credentials>();
    EXPECT_EQ(join({.own = unchecked, .expect = "access/"}, {.own = access_}).client.error().code,
              Code::invalid);
    EXPECT_EQ(join({.own = host_}, {.own = unchecked}).server.error().code, Code::invalid);
}

TEST_F(TlsTest, RefusesTls12) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()),
                                                                    SSL_CTX_free};
    SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(context.get()), SSL_free};
    BIO* out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), out);
    SSL_set_connect_state(ssl.get());
    SSL_do_handshake(ssl.get());
    char* hello = nullptr;
    const long size = BIO_get_mem_data(out, &hello);
    auto raw = raw_pair();
    ASSERT_TRUE(
        run_real(loop_, write_all(*raw.first, std::string_view{hello, static_cast<std::size_t>(size)})));
    const auto secured =
        run_real(loop_, net_->secure(std::move(raw.second), {.own = access_}, Side::server, 5s));
    ASSERT_FALSE(secured);
    EXPECT_EQ(secured.error().message, "server does not speak TLS 1.3");
    EXPECT_EQ(secured.error().code, Code::unauthenticated);
}

TEST_F(TlsTest, GarbageAndSilenceAreErrors) {
    auto garbage = raw_pair();
    ASSERT_TRUE(run_real(loop_, write_all(*garbage.first, "GET / HTTP/1.1\r\n\r\n")));
    EXPECT_FALSE(
        run_real(loop_, net_->secure(std::move(garbage.second), {.own = access_}, Side::server, 5s)));
    auto silent = raw_pair();
    const auto timed_out =
        run_real(loop_, net_->secure(std::move(silent.second), {.own = access_}, Side::server, 20ms));
    ASSERT_FALSE(timed_out);
    EXPECT_EQ(timed_out.error().code, Code::timeout);
    auto cut = raw_pair();
    cut.first.reset();
    const auto ended =
        run_real(loop_, net_->secure(std::move(cut.second), {.own = access_}, Side::server, 5s));
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Code::unavailable);
}

Task<> pump(Stream& to, std::string bytes) {
    CO_TRY(co_await write_all(to, bytes));
    co_return co_await to.finish();
}

Task<> drain(Stream& from, std::string& into) {
    std::array<char, 3000> part{};  // Smaller than a record, so that decrypted bytes stay behind.
    while (true) {
        const std::size_t size = CO_TRY(co_await read_some(from, part));
        if (size == 0) co_return Result<>{};
        into.append(part.data(), size);
        CO_TRY(co_await from.readable());
    }
}

TEST_F(TlsTest, AMebibyteBothWaysThroughSmallSockets) {
    const auto joined = join(raw_pair(/*buffer_size*/ 4096), {.own = host_}, {.own = access_});
    ASSERT_TRUE(joined.client && joined.server);
    std::string there(1 << 20, '\0'), back(1 << 20, '\0'), there_got, back_got;
    random_->fill({reinterpret_cast<std::uint8_t*>(there.data()), there.size()});
    random_->fill({reinterpret_cast<std::uint8_t*>(back.data()), back.size()});
    TaskGroup group{loop_};
    group.start("there", pump(**joined.client, there));
    group.start("back", pump(**joined.server, back));
    group.start("there got", drain(**joined.server, there_got));
    group.start("back got", drain(**joined.client, back_got));
    loop_.restart();
    while (group.size() > 0 && loop_.run_one() > 0) {
    }
    EXPECT_TRUE(there == there_got);
    EXPECT_TRUE(back == back_got);
}

TEST_F(TlsTest, GathersManyBuffersAndGoesOnWhereItStopped) {
    const auto joined = join(raw_pair(4096), {.own = host_}, {.own = access_});
    ASSERT_TRUE(joined.client && joined.server);
    std::string expected, got;
    std::vector<std::string> parts;
    std::vector<asio::const_buffer> buffers;
    for (int i = 0; i < 16; ++i)
        parts.push_back(std::string(static_cast<std::size_t>(i * 1777), static_cast<char>('a' + i)));
    for (const auto& part : parts) expected += part, buffers.push_back(asio::buffer(part));
    TaskGroup group{loop_};
    group.start("write", [](Stream& to, std::vector<asio::const_buffer> all) -> Task<> {
        CO_TRY(co_await write_all(to, all));
        co_return co_await to.finish();
    }(**joined.client, buffers));
    group.start("read", drain(**joined.server, got));
    loop_.restart();
    while (group.size() > 0 && loop_.run_one() > 0) {
    }
    EXPECT_TRUE(expected == got);
}

TEST_F(TlsTest, ACutConnectionIsNotTheEndOfTheBytes) {
    const auto finished = join({.own = host_}, {.own = access_});
    ASSERT_TRUE(run_real(loop_, (*finished.client)->finish()));
    std::array<char, 8> into{};
    EXPECT_EQ(run_real(loop_, read_some(**finished.server, into)).value(), 0u);
    EXPECT_EQ(run_real(loop_, echo(**finished.server, **finished.client, "still")).value(), "still");

    auto cut = join({.own = host_}, {.own = access_});
    (*cut.client)->close();
    const auto read = run_real(loop_, read_some(**cut.server, into));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::unavailable);
    EXPECT_FALSE((*cut.client)->try_read(into));
}

TEST_F(TlsTest, WaitsCanBeEnded) {
    const auto joined = join({.own = host_}, {.own = access_});
    std::array<char, 8> into{};
    ASSERT_FALSE((*joined.client)->try_read(into).value());
    ASSERT_FALSE((*joined.server)->try_read(into).value());
    TaskGroup group{loop_};
    std::vector<Code> woken;
    const auto note = [](std::vector<Code>& to, Stream& from) -> Task<> {
        const auto result = co_await from.readable();
        to.push_back(result ? Code::internal : result.error().code);
        co_return Result<>{};
    };
    group.start("closed", note(woken, **joined.client));
    group.start("cancelled", note(woken, **joined.server));
    loop_.restart();
    loop_.poll();
    EXPECT_TRUE(woken.empty());
    group.cancel();
    loop_.restart();
    loop_.poll();
    EXPECT_EQ(woken, (std::vector{Code::cancelled, Code::cancelled}));
    EXPECT_EQ(run_real(loop_, echo(**joined.server, **joined.client, "unharmed")).value(), "unharmed");
    ASSERT_FALSE((*joined.client)->try_read(into).value());
    TaskGroup second{loop_};
    second.start("closed", note(woken, **joined.client));
    loop_.restart();
    loop_.poll();
    EXPECT_EQ(woken.size(), 2u);
    (*joined.client)->close();
    loop_.restart();
    loop_.poll();
    EXPECT_EQ(woken.size(), 3u);
    EXPECT_EQ(woken.back(), Code::cancelled);
}

TEST_F(TlsTest, RenewedCredentialsServeNewConnectionsAndLeaveOldOnes) {
    const auto before = join({.own = host_}, {.own = access_});
    access_ = issue({"access", "a-2"});
    const auto after = join({.own = host_}, {.own = access_});
    EXPECT_EQ((*before.client)->identity(), "access/a-1");
    EXPECT_EQ((*after.client)->identity(), "access/a-2");
    EXPECT_EQ(run_real(loop_, echo(**before.client, **before.server, "alive")).value(), "alive");
}

TEST_F(TlsTest, CredentialsThatDoNotFitAreRefusedWithAReason) {
    auto mixed = *host_;
    mixed.key = access_->key;
    const auto joined = join({.own = std::make_shared<Credentials>(mixed)}, {.own = access_});
    ASSERT_FALSE(joined.client);
    EXPECT_EQ(joined.client.error().code, Code::invalid);
    EXPECT_TRUE(joined.client.error().message.contains("do not go together"))
        << joined.client.error().message;
}

// Sanitizers replace the allocator whose books this reads.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
TEST_F(TlsTest, AnIdleConnectionCostsLittleMemory) {
    constexpr std::size_t pairs = 200;
    constexpr std::size_t bytes_max = 25 * 1024;
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    const auto used = [] {
        const auto now = ::mallinfo2();
        return now.uordblks + now.hblkhd;
    };
    const auto add = [&](std::vector<std::unique_ptr<wire::Link>>& to) {
        auto joined = join(raw_pair(), {.own = host_}, {.own = access_});
        ASSERT_TRUE(joined.client && joined.server);
        for (auto* end : {&joined.client, &joined.server})
            to.push_back(std::make_unique<wire::Link>(loop_, *timers_, std::move(**end)));
        loop_.restart();
        loop_.poll();
    };
    std::vector<std::unique_ptr<wire::Link>> ends;
    ends.reserve(2 * pairs + 2);
    add(ends);  // What is made once is not counted.
    const std::size_t before = used();
    for (std::size_t i = 0; i < pairs; ++i) add(ends);
    const std::size_t each = (used() - before) / (2 * pairs);
    RecordProperty("bytes_per_end", static_cast<int>(each));
    std::printf("an idle uplink over mutual TLS: %zu bytes an end\n", each);
    EXPECT_LE(each, bytes_max);
    for (const auto& end : ends) EXPECT_FALSE(end->closed());
}
#endif

}  // namespace
}  // namespace hostler::net
