// What is shown to the API server with each request, and how it is renewed.
#pragma once

#include "adapters/kubernetes/access.h"
#include "adapters/kubernetes/plugin.h"
#include "core/signal.h"
#include "core/stream.h"
#include "core/worker.h"

namespace hostler::kubernetes {

struct Login {
    std::string token{};                       // Bearer; empty: none.
    std::shared_ptr<const Credentials> own{};  // Authority, and a certificate where there is one.
    std::uint64_t number = 0;                  // Another one after each renewal.
};

struct LoginSettings {
    Duration plugin_time = std::chrono::seconds{60};   // For an exec plugin to end.
    Duration renew_before = std::chrono::seconds{10};  // Before a credential expires, its plugin runs again.
};

// The logins of one Access. A token file is read again when it has changed; an exec plugin runs once for all
// who wait, again when its credential expires, and again after refused(). Files and programs are the
// worker's.
class Logins {
public:
    Logins(Timers& timers, Worker& worker, Access access, LoginSettings settings = {});

    // Errors: cancelled; of a token file: not_found, unavailable, invalid; those of run_plugin().
    Task<Login> current();
    // The server answered 401 to it. True: current() may give another one; try again if its number differs.
    bool refused(const Login& login);

private:
    struct TokenFile;
    Task<> read_token();
    Task<> renew();
    Task<> run_once();
    bool fresh() const;

    Timers& timers_;
    Worker& worker_;
    const std::shared_ptr<const Access> access_;
    const LoginSettings settings_;
    const std::shared_ptr<const Credentials> own_;  // Of the kubeconfig.
    Login login_;
    std::shared_ptr<const TokenFile> token_file_;
    bool have_ = false;
    std::optional<WallTime> expires_;
    bool running_ = false;
    std::uint64_t rounds_ = 0;  // Of the plugin that have ended.
    Result<> last_round_{};
    Signal ended_;
};

}  // namespace hostler::kubernetes
