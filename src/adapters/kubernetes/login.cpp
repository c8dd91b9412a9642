#include "adapters/kubernetes/login.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "adapters/kubernetes/kubeconfig.h"

namespace hostler::kubernetes {

// A file's token and by what a change of it is noticed.
struct Logins::TokenFile {
    std::string token;
    ino_t inode = 0;
    off_t size = 0;
    timespec changed{};

    bool same(const struct stat& now) const {
        return now.st_ino == inode && now.st_size == size && now.st_mtim.tv_sec == changed.tv_sec &&
               now.st_mtim.tv_nsec == changed.tv_nsec;
    }
};

namespace {

std::shared_ptr<const Credentials> credentials_of(const Access& access, const std::string& certificate,
                                                  const std::string& key) {
    return std::make_shared<Credentials>(certificate, key, access.authority);
}

}  // namespace

Logins::Logins(Timers& timers, Worker& worker, Access access, LoginSettings settings)
    : timers_(timers),
      worker_(worker),
      access_(std::make_shared<const Access>(std::move(access))),
      settings_(settings),
      own_(credentials_of(*access_, access_->certificate, access_->key)),
      login_{access_->token, own_, 0} {}

Task<Login> Logins::current() {
    if (!access_->token_file.empty()) CO_TRY(co_await read_token());
    if (access_->exec && !fresh()) CO_TRY(co_await renew());
    co_return login_;
}

bool Logins::refused(const Login& login) {
    if (login.number != login_.number) return true;  // Somebody has renewed it meanwhile.
    have_ = false;
    token_file_ = nullptr;
    return access_->exec || !access_->token_file.empty();
}

bool Logins::fresh() const {
    return have_ && (!expires_ ||
                     timers_.wall() + std::chrono::floor<std::chrono::microseconds>(settings_.renew_before) <
                         *expires_);
}

Task<> Logins::read_token() {
    using Read = std::shared_ptr<const TokenFile>;
    const auto read = CO_TRY(
        co_await run_on<Read>(worker_, [path = access_->token_file, known = token_file_]() -> Result<Read> {
            struct stat status{};
            if (known && ::stat(path.c_str(), &status) == 0 && known->same(status)) return known;
            const bool seen = ::stat(path.c_str(), &status) ==
                              0;  // Before it is read: a change between is noticed next time.
            auto text = read_small_file(path);
            if (!text) {
                text.error().message = fmt::format("the token: {}", text.error().message);
                return std::unexpected(std::move(text).error());
            }
            while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' '))
                text->pop_back();
            const bool odd = std::ranges::any_of(*text, [](char c) { return c <= ' ' || c > '~'; });
            if (text->empty() || odd)
                return fail(Code::invalid,
                            fmt::format("the token: the file {} {}", path,
                                        odd ? "holds a character that a token may not" : "is empty"));
            if (!seen) status = {};
            return std::make_shared<const TokenFile>(std::move(*text), status.st_ino, status.st_size,
                                                     status.st_mtim);
        }));
    token_file_ = read;
    if (read->token != login_.token) {
        login_.token = read->token;
        ++login_.number;
    }
    co_return Result<>{};
}

Task<> Logins::renew() {
    while (running_) {
        const auto round = rounds_;
        CO_TRY(co_await ended_.wait());
        if (rounds_ == round) continue;
        if (!last_round_) co_return last_round_;
        if (have_) co_return Result<>{};
    }
    co_return co_await run_once();
}

Task<> Logins::run_once() {
    // One who is cancelled here leaves the others to run it.
    struct Running {
        Logins& logins;
        explicit Running(Logins& of) : logins(of) { logins.running_ = true; }
        ~Running() {
            logins.running_ = false;
            logins.ended_.notify_all();
        }
    };
    Running running{*this};
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(settings_.plugin_time);
    auto ran = co_await run_on<PluginCredential>(
        worker_, [access = access_, time] { return run_plugin(*access, time); });
    if (!ran && ran.error().code == Code::cancelled) co_return std::unexpected(ran.error());
    ++rounds_;
    if (!ran) co_return last_round_ = std::unexpected(ran.error());
    const bool own = !ran->certificate.empty();
    login_ = {std::move(ran->token), own ? credentials_of(*access_, ran->certificate, ran->key) : own_,
              login_.number + 1};
    expires_ = ran->expires;
    have_ = true;
    co_return last_round_ = Result<>{};
}

}  // namespace hostler::kubernetes
