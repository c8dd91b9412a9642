// Terminals, commands, ports and files of real containers, by the shipped command line through the gateway.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <fstream>

#include "cloud.h"
#include "core/stream.h"
#include "core/task_group.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A program of the command line in a terminal of its own.
class Terminal {
public:
    Terminal(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment) {
        const winsize size{.ws_row = 33, .ws_col = 101, .ws_xpixel = 0, .ws_ypixel = 0};
        char name[128];
        ::openpty(&master_, &slave_, name, nullptr, &size);
        ::tcgetattr(slave_, &before_);
        process_ = ::fork();
        if (process_ == 0) {
            ::setsid();
            ::ioctl(slave_, TIOCSCTTY, 0);
            for (int fd = 0; fd < 3; ++fd) ::dup2(slave_, fd);
            for (const auto& [key, value] : environment) ::setenv(key.c_str(), value.c_str(), 1);
            std::vector<char*> arguments;
            for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
            arguments.push_back(nullptr);
            ::execv(arguments[0], arguments.data());
            ::_exit(126);
        }
    }
    ~Terminal() {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
        ::close(slave_), ::close(master_);
    }
    Terminal(const Terminal&) = delete;

    void type(const std::string& keys) {
        EXPECT_EQ(::write(master_, keys.data(), keys.size()), ssize_t(keys.size()));
    }
    // Reads until `text` has been shown behind what was seen before; false after 20 s.
    bool shows(const std::string& text) {
        for (int i = 0; i < 200; ++i) {
            if (const auto at = seen_.find(text, looked_); at != std::string::npos) {
                looked_ = at + text.size();
                return true;
            }
            pollfd one{.fd = master_, .events = POLLIN, .revents = 0};
            if (::poll(&one, 1, 100) <= 0) continue;
            char piece[4096];
            const auto size = ::read(master_, piece, sizeof piece);
            if (size > 0) seen_.append(piece, static_cast<std::size_t>(size));
        }
        ADD_FAILURE() << "never shown: " << text
                      << "\nbut: " << seen_.substr(std::min(looked_, seen_.size()));
        return false;
    }
    bool saw(const std::string& text) const { return seen_.find(text) != std::string::npos; }
    void resize(unsigned short rows, unsigned short columns) {
        const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        ::ioctl(master_, TIOCSWINSZ, &size);
    }
    bool raw() const {
        termios now{};
        ::tcgetattr(slave_, &now);
        return (now.c_lflag & ICANON) == 0;
    }
    bool as_before() const {
        termios now{};
        ::tcgetattr(slave_, &now);
        return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
               now.c_oflag == before_.c_oflag;
    }
    pid_t process() const { return process_; }
    int ended() {
        int status = 0;
        for (int i = 0; i < 1000; ++i) {
            if (::waitpid(process_, &status, WNOHANG) == process_) {
                process_ = 0;
                return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
            }
            pollfd one{.fd = master_, .events = POLLIN, .revents = 0};
            char piece[4096];
            if (::poll(&one, 1, 20) > 0) (void)!::read(master_, piece, sizeof piece);
        }
        return -1;
    }

private:
    int master_ = -1, slave_ = -1;
    pid_t process_ = 0;
    termios before_{};
    std::string seen_;
    std::size_t looked_ = 0;
};

class Sessions : public Shared {
protected:
    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        make_image();
        Cloud::shared().run({.id = "box", .image = "localhost/box:latest"});
    }
    static void TearDownTestSuite() { Cloud::shared().end("box"); }

    // The machine's own static busybox and nothing else.
    static void make_image() {
        Cloud& cloud = Cloud::shared();
        const std::string root = cloud.folder + "/box";
        shell(fmt::format(
            "mkdir -p {0}/bin {0}/tmp {0}/root {0}/etc && cp $(command -v busybox) {0}/bin/busybox && "
            "for a in sh cat echo ls stty sleep sha256sum head wc httpd mkdir nc kill true env dd id "
            "ln chmod rm; do ln -s busybox {0}/bin/$a; done && "
            "echo root:x:0:0::/root:/bin/sh > {0}/etc/passwd && echo box > {0}/etc/index.html && "
            "tar -C {0} -cf {0}.tar .",
            root));
        const Page made = cloud.web.unix_socket(
            "POST", cloud.data + "/engine/podman.sock",
            "/v1.41/images/create?fromSrc=-&repo=localhost/box&tag=latest&changes=ENV%20PATH%3D/bin&"
            "changes=CMD%20%5B%22/bin/httpd%22%2C%22-f%22%2C%22-p%22%2C%228080%22%2C%22-h%22%2C%22/etc%22%5D",
            read_file(root + ".tar"));
        ASSERT_EQ(made.status, 200) << made.body;
    }
    std::map<std::string, std::string> environment(const std::string& key = "") {
        return {{"HOSTLER_API", cloud.api_url},
                {"HOSTLER_KEY", key.empty() ? cloud.tenant("acme").key : key},
                {"HOSTLER_CONFIG", cloud.folder + "/cli.toml"},
                {"TERM", "vt100"}};
    }
    Ran sh(const std::string& line, const std::string& key = "") {
        auto with = environment(key);
        with["H"] = HOSTLER;
        return run_program({"/bin/sh", "-c", line}, with);
    }
};

TEST_F(Sessions, ACommandsOutputsAndExitCodeComeThrough) {
    const Ran ran = sh("$H exec box -- sh -c 'echo out; echo err >&2; exit 7' </dev/null");
    EXPECT_EQ(ran.code, 7) << ran.err;
    EXPECT_EQ(ran.out, "out\n");
    EXPECT_EQ(ran.err, "err\n");
    EXPECT_EQ(sh("$H exec box -- true </dev/null").code, 0);
    EXPECT_EQ(sh("$H exec --env A=b --workdir /tmp box -- sh -c 'echo $A $PWD' </dev/null").out, "b /tmp\n");
    const Ran missing = sh("$H exec box -- /no/such/program </dev/null");
    EXPECT_NE(missing.code, 0);
    EXPECT_THAT(missing.out + missing.err, HasSubstr("/no/such/program"));
    const Ran longer = sh("$H exec box -- echo $(seq 10000) </dev/null");
    EXPECT_NE(longer.code, 0);
    EXPECT_THAT(longer.err, HasSubstr("the command is too long for the gateway at"));
    EXPECT_THAT(longer.err, HasSubstr("hostler exec -i NAME -- sh <SCRIPT"));
}

TEST_F(Sessions, TenMebibytesGoInAndComeOutUnharmed) {
    const std::string path = cloud.folder + "/ten";
    std::ofstream{path} << pattern(10 << 20);
    const Ran ran =
        sh(fmt::format("$H exec box -- cat < {0} > {0}.back && cmp {0} {0}.back && echo same", path));
    EXPECT_EQ(ran.out, "same\n") << ran.err;
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(sh(fmt::format("cat {} | $H exec box -- wc -c", path)).out, "10485760\n");
}

TEST_F(Sessions, AnInterruptReachesTheCommand) {
    const std::string log = cloud.folder + "/interrupt";
    const Ran ran = sh(fmt::format(
        "$H exec box -- sh -c 'trap \"echo caught; exit 9\" INT; echo ready; while true; do sleep 0.1; done' "
        "</dev/null >{0} & pid=$!; until grep -q ready {0}; do sleep 0.05; done; kill -INT $pid; wait $pid; "
        "echo code $?; cat {0}",
        log));
    // A shell starts what is in its background deaf to interrupts; the command line hears them all the same.
    EXPECT_EQ(ran.out, "code 9\nready\ncaught\n") << ran.err;
}

TEST_F(Sessions, ATerminalIsOneAndIsGivenBackAsItWas) {
    Terminal terminal{{HOSTLER, "ssh", "box", "--", "sh"}, environment()};
    terminal.type("stty size; echo $TERM\n");
    ASSERT_TRUE(terminal.shows("33 101"));
    EXPECT_TRUE(terminal.shows("vt100"));
    EXPECT_TRUE(terminal.raw());
    terminal.resize(40, 132);
    EXPECT_TRUE(cloud.until([&] {
        terminal.type("stty size; echo again\n");
        terminal.shows("again\r\n");
        return terminal.saw("40 132");
    }));
    // Ctrl-C is the terminal's own.
    // What is in the foreground says so itself: before, the shell would get the interrupt.
    terminal.type("sh -c \"echo sta''rted; exec sleep 1000\"\n");
    ASSERT_TRUE(terminal.shows("started"));
    terminal.type("\x03");
    terminal.type("echo code $?\n");
    EXPECT_TRUE(terminal.shows("code 130"));
    terminal.type("exit 5\n");
    EXPECT_EQ(terminal.ended(), 5);
    EXPECT_TRUE(terminal.as_before());

    Terminal killed{{HOSTLER, "ssh", "box", "--", "sh"}, environment()};
    killed.type("echo he''re\n");
    ASSERT_TRUE(killed.shows("here"));
    EXPECT_TRUE(killed.raw());
    ::kill(killed.process(), SIGTERM);
    EXPECT_EQ(killed.ended(), 128 + SIGTERM);
    EXPECT_TRUE(killed.as_before());
}

// The first reader takes the first key that ends the input, as a shell does that sets its terminal up late.
TEST_F(Sessions, ATerminalsProgramHearsThatTheInputHasEndedAlsoIfItListensLate) {
    const Ran ran = sh("timeout 30 $H exec -t box -- sh -c 'cat; echo one; cat; echo two' </dev/null");
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("two"));
}

TEST_F(Sessions, FilesGoInAndComeBackAsTheyAre) {
    const std::string here = cloud.folder + "/copied";
    shell(fmt::format(
        "mkdir -p {0}/a/sub && cd {0}/a && printf hello > plain && printf x > sub/run && chmod 755 sub/run "
        "&& chmod 600 plain && ln -s sub/run link && head -c 3000000 /dev/urandom > big",
        here));
    EXPECT_EQ(sh(fmt::format("$H cp {}/a box:/tmp", here)).code, 0);
    EXPECT_EQ(sh("$H exec box -- sha256sum /tmp/a/big </dev/null").out.substr(0, 64),
              shell(fmt::format("sha256sum {}/a/big", here)).substr(0, 64));
    const Ran back = sh(fmt::format("$H cp box:/tmp/a {}/b", here));
    EXPECT_EQ(back.code, 0) << back.err;
    EXPECT_THAT(back.err, HasSubstr("3 files"));
    EXPECT_EQ(shell(fmt::format("cd {}; diff -r a b && stat -c '%a %N' b/plain b/sub/run b/link", here)),
              "600 'b/plain'\n755 'b/sub/run'\n777 'b/link' -> 'sub/run'\n");
    // Under another name, and into a folder that is there.
    EXPECT_EQ(sh(fmt::format(
                     "$H cp {}/a/plain box:/tmp/renamed && $H exec box -- cat /tmp/renamed </dev/null", here))
                  .out,
              "hello");
    EXPECT_EQ(sh(fmt::format("cd {} && $H cp box:/tmp/renamed . && cat renamed", here)).out, "hello");
    // What leads out is left there.
    sh("$H exec box -- sh -c 'mkdir -p /tmp/e; ln -s /etc/passwd /tmp/e/out; echo ok > /tmp/e/in' "
       "</dev/null");
    const Ran escaped = sh(fmt::format("$H cp box:/tmp/e {}/e", here));
    EXPECT_EQ(escaped.code, 0) << escaped.err;
    EXPECT_THAT(escaped.err, HasSubstr("leads out"));
    EXPECT_EQ(shell(fmt::format("ls {}/e", here)), "in\n");
}

TEST_F(Sessions, AFileWithHolesComesBackWithThem) {
    const std::string here = cloud.folder + "/sparse";
    shell("mkdir -p " + here);
    // 200 MiB, of which one block has something in it.
    EXPECT_EQ(
        sh("$H exec box -- sh -c 'echo end | dd of=/tmp/holes bs=1M seek=200 2>/dev/null' </dev/null").code,
        0);
    const Ran holes = sh(fmt::format("$H cp box:/tmp/holes {}/holes", here));
    EXPECT_EQ(holes.code, 0) << holes.err;
    EXPECT_THAT(holes.err, HasSubstr("of it on the disk: the rest is zeros"));
    struct stat sparse{};
    ASSERT_EQ(::stat((here + "/holes").c_str(), &sparse), 0);
    EXPECT_EQ(sparse.st_size, (200 << 20) + 4);
    EXPECT_LT(sparse.st_blocks * 512, 1 << 20);
    EXPECT_EQ(sh(fmt::format("tail -c 4 {}/holes", here)).out, "end\n");
    EXPECT_EQ(sh(fmt::format("truncate -s 20M {}/hole", here)).code, 0);
    EXPECT_THAT(sh(fmt::format("$H cp {}/hole box:/tmp", here)).err,
                HasSubstr("has holes: 20 MiB are written in"));
}

TEST_F(Sessions, PortsAreReachedHere) {
    const std::string log = cloud.folder + "/forward";
    const Ran ran =
        sh(fmt::format("$H port-forward box 0:8080 0:9999 > {0} 2>{0}.err & pid=$!; until [ $(wc -l < {0}) = "
                       "2 ]; do sleep 0.05; done; "
                       "at=$(head -1 {0} | cut -d' ' -f1); for i in 1 2 3 4 5 6 7 8; do curl -s "
                       "http://$at/passwd > {0}.$i & all=\"$all $!\"; done; wait $all; "
                       "cat {0}.[1-8] | grep -c root:x; curl -s http://$(tail -1 {0} | cut -d' ' -f1)/; kill "
                       "$pid; wait $pid; cat {0}.err",
                       log));
    EXPECT_THAT(ran.out, HasSubstr("8\n")) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("nothing answers on port 9999")) << ran.err;
    const Ran proxied = sh("printf 'GET /passwd HTTP/1.0\\r\\n\\r\\n' | $H proxy box 8080");
    EXPECT_THAT(proxied.out, HasSubstr("root:x:0:0")) << proxied.err;
}

TEST_F(Sessions, NobodyElseComesIn) {
    const Ran other = sh("$H exec box -- true </dev/null", cloud.tenant("other").key);
    EXPECT_EQ(other.code, 3);
    EXPECT_THAT(other.err, HasSubstr("there is no instance box"));
    const std::string id = cloud.instance("box").at("/id");
    const auto ask = [&](const std::string& key, http::Headers more = {}) {
        http::Headers headers{{"Connection", "Upgrade"},
                              {"Upgrade", "websocket"},
                              {"Sec-WebSocket-Version", "13"},
                              {"Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}};
        if (!key.empty()) headers.add("Authorization", "Bearer " + key);
        for (const auto& header : more) headers.add(header.name, header.value);
        return cloud.web.fetch(
            "GET",
            fmt::format("{}/v1/instances/{}/exec?command=true&session=0123456789abcdef0123",
                        cloud.gateway_url, id),
            headers);
    };
    EXPECT_EQ(ask("").status, 401);
    EXPECT_EQ(ask("hk_nobody").status, 401);
    EXPECT_EQ(ask(cloud.tenant("other").key).status, 404);
    EXPECT_EQ(ask(cloud.tenant("acme").key, {{"Origin", "https://evil.example"}}).status, 403);
    const Ran unknown = sh("$H ssh nothing </dev/null");
    EXPECT_EQ(unknown.code, 3);
    EXPECT_THAT(unknown.err, HasSubstr("there is no instance nothing"));
}

TEST_F(Sessions, AnInstanceThatEndsEndsItsSessions) {
    cloud.run({.id = "brief", .image = "localhost/box:latest"});
    const std::string log = cloud.folder + "/brief";
    const Ran ran =
        sh(fmt::format("$H exec brief -- sh -c 'echo ready; sleep 1000' </dev/null >{0} 2>{0}.err & pid=$!; "
                       "until grep -q ready {0}; do sleep 0.05; "
                       "done; $H instance delete brief --wait 2>/dev/null; wait $pid; echo code $?",
                       log));
    EXPECT_THAT(ran.out, Not(HasSubstr("code 0\n"))) << ran.err;
    const Ran after = sh("$H exec brief -- true </dev/null");
    EXPECT_EQ(after.code, 5) << after.err;
    EXPECT_THAT(after.err, HasSubstr("is not running"));
    cloud.wait_for("brief", "stopped");
}

TEST_F(Sessions, AKilledGatewayAndAccessPointAreSurvived) {
    const std::string log = cloud.folder + "/survived";
    for (const std::string role : {"gateway", "access-nj"}) {
        const std::string path = log + role;
        std::ofstream{path + ".sh"} << fmt::format(
            "i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i; sleep 0.1; done; echo done");
        std::ofstream{path} << "";
        const pid_t child = ::fork();
        if (child == 0) {
            for (const auto& [key, value] : environment()) ::setenv(key.c_str(), value.c_str(), 1);
            const int out = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CREAT, 0600);
            const int in = ::open("/dev/null", O_RDONLY);
            const int err = ::open((path + ".err").c_str(), O_WRONLY | O_TRUNC | O_CREAT, 0600);
            ::dup2(in, 0), ::dup2(out, 1), ::dup2(err, 2);
            const std::string script = read_file(path + ".sh");
            ::execl(HOSTLER, HOSTLER, "exec", "box", "--", "sh", "-c", script.c_str(), nullptr);
            ::_exit(126);
        }
        EXPECT_TRUE(cloud.until([&] { return read_file(path).find("line 10\n") != std::string::npos; }));
        const pid_t before = cloud.kill9(role);
        cloud.wait_for_another(role, before);
        int status = -1;
        EXPECT_TRUE(cloud.until([&] { return ::waitpid(child, &status, WNOHANG) == child; }, 60s));
        EXPECT_EQ(WEXITSTATUS(status), 0) << role << read_file(path + ".err");
        std::string wanted;
        for (int i = 1; i <= 30; ++i) wanted += fmt::format("line {}\n", i);
        EXPECT_EQ(read_file(path), wanted + "done\n") << role;
    }
}

TEST_F(Sessions, AShareLinkOpensOnePortForATime) {
    cloud.run({.id = "shared", .image = "localhost/box:latest", .open_to_all = false});
    const std::string key = cloud.tenant("acme").key;
    const Page made =
        cloud.api("POST", "/v1/instances/shared/shares", {{"port", 8080}, {"forSeconds", 3600}}, key);
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string link = made.at("/url");
    const Page opened = cloud.web.fetch("GET", link, {{"Accept", "text/html"}});
    ASSERT_EQ(opened.status, 303) << opened.body;
    const std::string set = opened.header("Set-Cookie");
    const std::string origin = link.substr(0, link.find("/.hostler"));
    const http::Headers cookie{{"Cookie", set.substr(0, set.find(';'))}};
    EXPECT_EQ(cloud.web.fetch("GET", origin + "/passwd", cookie).status, 200);
    EXPECT_EQ(cloud.web.fetch("GET", origin + "/passwd").status, 401);
    EXPECT_EQ(cloud.api("GET", "/v1/instances/shared/shares", nullptr, key).at("/items/0/opened"), "1");
    EXPECT_EQ(cloud.api("POST", "/v1/instances/shared/shares", {{"port", 81}}, key).status, 404);
    EXPECT_EQ(
        cloud.api("POST", "/v1/instances/shared/shares", {{"port", 8080}}, cloud.tenant("other").key).status,
        404);
    EXPECT_EQ(cloud.api("DELETE", "/v1/shares/" + made.at("/id"), nullptr, cloud.tenant("other").key).status,
              404);
    EXPECT_EQ(cloud.api("DELETE", "/v1/shares/" + made.at("/id"), nullptr, key).status, 200);
    EXPECT_EQ(cloud.web.fetch("GET", link).status, 403);
    EXPECT_TRUE(
        cloud.until([&] { return cloud.web.fetch("GET", origin + "/passwd", cookie).status == 401; }, 40s));
    cloud.end("shared");
}

// Connections that are open at once, and when each of them ended.
class Connections {
public:
    explicit Connections(Web& web) : web_(web) {}
    Connections(const Connections&) = delete;
    Connections& operator=(const Connections&) = delete;
    ~Connections() { close(); }
    // `upgrade`: as a WebSocket, else as a stream of events.
    void open(const std::string& url, const std::string& secret, bool upgrade) {
        std::string head = fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n",
                                       Url{url}.target, Url{url}.authority, secret);
        head += upgrade ? "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
                        : "Accept: text/event-stream\r\nConnection: close\r\n\r\n";
        group_.start("connection", hold(Url{url}.address, std::move(head), upgrade ? "101" : "200"));
    }
    void close() { (void)web_.go(group_.close()); }

    int opened = 0, refused = 0, ended = 0;
    Instant last_end{};
    std::string first_end;  // The request of the first that ended, and what came last on it.

private:
    Task<> hold(std::string address, std::string head, std::string status) {
        const auto said = co_await talk(std::move(address), std::move(head), std::move(status));
        if (!said)
            ++refused;
        else
            ++ended, last_end = web_.timers->now();
        co_return Result<>{};
    }
    // Until the other end has closed it. An error: it was not opened.
    Task<> talk(std::string address, std::string head, std::string status) {
        const StreamPtr stream = CO_TRY(co_await web_.net->dial(std::move(address), 20s));
        CO_TRY(co_await write_all(*stream, head));
        std::string seen;
        std::vector<char> into(16 << 10);
        while (seen.find("\r\n\r\n") == std::string::npos) {
            const std::size_t size = CO_TRY(co_await read_some(*stream, into));
            if (size == 0) co_return fail(Code::unavailable, "it ended before its head");
            seen.append(into.data(), size);
        }
        if (!seen.starts_with("HTTP/1.1 " + status)) co_return fail(Code::forbidden, seen);
        ++opened;
        std::string last;
        for (std::size_t size = 1; size > 0;) {
            const auto read = co_await read_some(*stream, into);
            size = read.value_or(0);
            if (size > 0) last.assign(into.data(), size);
            if (!read) last += " " + read.error().message;
        }
        if (first_end.empty()) first_end = head.substr(0, head.find('\r')) + ": " + last;
        co_return Result<>{};
    }

    Web& web_;
    TaskGroup group_{web_.loop};
};

// 32 watches are what one caller may have.
TEST_F(Sessions, ADisabledUsersConnectionsAllEnd) {
    constexpr int urls = 130, terminals = 40, watches = 30, all = urls + terminals + watches;
    const std::string login = "leaver@example.com", password = "correct horse battery staple";
    const Page user = cloud.api(
        "POST", "/v1/users", {{"login", login}, {"name", "Leaver"}, {"email", login}, {"tenantID", "acme"}});
    ASSERT_EQ(user.status, 201) << user.body;
    const Page grant = cloud.api("POST", "/v1/grants",
                                 {{"subject", "user/" + login}, {"role", "member"}, {"tenantID", "acme"}});
    ASSERT_EQ(grant.status, 201) << grant.body;
    ASSERT_EQ(
        cloud.api("POST", "/v1/password-reset", {{"secret", user.at("/secret")}, {"newPassword", password}})
            .status,
        200);
    const Page session = cloud.api("POST", "/v1/sign-in", {{"login", login}, {"password", password}});
    ASSERT_EQ(session.status, 200) << session.body;
    const std::string secret = session.at("/secret");
    const std::string url = cloud.run({.id = "private", .open_to_all = false});
    const std::string box = cloud.instance("box").at("/id");

    Connections connections{cloud.web};
    for (int i = 0; i < urls; ++i) connections.open(url + "/ws", secret, true);
    for (int i = 0; i < terminals; ++i)
        connections.open(
            fmt::format("{}/v1/instances/{}/exec?command=sleep&command=1000&session=0123456789abcdef{:04}",
                        cloud.gateway_url, box, i),
            secret, true);
    for (int i = 0; i < watches; ++i)
        connections.open(cloud.api_url + "/v1/instances?watch=true", secret, false);
    ASSERT_TRUE(cloud.until([&] { return connections.opened + connections.refused == all; }, 60s));
    ASSERT_EQ(connections.refused, 0);
    ASSERT_EQ(connections.ended, 0) << "they stay open while the user may: " << connections.first_end;

    const Instant disabled = cloud.web.timers->now();
    const Page done = cloud.api("POST", "/v1/users/" + login + "/disable");
    ASSERT_EQ(done.status, 200) << done.body;
    EXPECT_TRUE(cloud.until([&] { return connections.ended == all; }, 60s))
        << connections.ended << " of " << all << " ended";
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(connections.last_end - disabled);
    fmt::print("{} connections ended within {} ms\n", connections.ended, took.count());
    connections.close();
    EXPECT_EQ(cloud.api("GET", "/v1/instances", nullptr, secret).status, 401);
    cloud.end("private");
}

}  // namespace
}  // namespace hostler::cloud
