#include "adapters/sodium/passwords.h"

#include <fmt/format.h>
#include <sodium.h>

#include <array>
#include <vector>

#include "core/worker.h"

namespace hostler::sodium {

namespace {

// Forgotten when it goes.
struct Phrase {
    std::string text;
    explicit Phrase(std::string from) : text(std::move(from)) {}
    Phrase(Phrase&& other) noexcept { text.swap(other.text); }
    Phrase& operator=(Phrase&&) = delete;
    ~Phrase() { sodium_memzero(text.data(), text.size()); }
};

class ArgonPasswords final : public Passwords {
public:
    ArgonPasswords(Loop& loop, PasswordCost cost) : cost_(cost), at_(std::make_shared<Counts>()) {
        for (std::size_t i = 0; i < cost.at_once; ++i)
            lanes_.push_back(make_worker(loop, fmt::format("passwords-{}", i)));
        at_->lanes.resize(cost.at_once);
    }

    Task<std::string> hash(std::string password) override {
        return run<std::string>(
            [cost = cost_, phrase = Phrase{std::move(password)}]() mutable -> Result<std::string> {
                std::array<char, crypto_pwhash_STRBYTES> text{};
                if (crypto_pwhash_str_alg(text.data(), phrase.text.data(), phrase.text.size(), cost.passes,
                                          cost.memory_bytes, crypto_pwhash_ALG_ARGON2ID13) != 0)
                    return no_memory(cost);
                return std::string{text.data()};
            });
    }
    Task<bool> verify(std::string password, std::string hash) override {
        return run<bool>(
            [phrase = Phrase{std::move(password)}, text = std::move(hash)]() mutable -> Result<bool> {
                if (text.size() >= crypto_pwhash_STRBYTES) return false;
                text.resize(crypto_pwhash_STRBYTES, '\0');
                return crypto_pwhash_str_verify(text.data(), phrase.text.data(), phrase.text.size()) == 0;
            });
    }

private:
    // A caller that is cancelled leaves its job running: it counts until it is done.
    struct Counts {
        std::vector<std::size_t> lanes;
    };

    static std::unexpected<Error> no_memory(const PasswordCost& cost) {
        return fail(Code::exhausted,
                    fmt::format("there are no {} MiB of memory for a password", cost.memory_bytes >> 20),
                    "too_many_sign_ins");
    }

    template <class T>
    Task<T> run(std::move_only_function<Result<T>()> job) {
        std::size_t lane = 0, all = 0;
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            all += at_->lanes[i];
            if (at_->lanes[i] < at_->lanes[lane]) lane = i;
        }
        if (all >= waiting_max + lanes_.size())
            co_return fail(Code::exhausted, "too many people sign in at once; try again in a moment",
                           "too_many_sign_ins");
        struct Call {
            std::move_only_function<Result<T>()> job;
            std::optional<Result<T>> answer;
        };
        auto call = std::make_shared<Call>(std::move(job), std::nullopt);
        ++at_->lanes[lane];
        co_return co_await suspend<T>([this, lane, call](WakerPtr<T> waker) {
            lanes_[lane]->post([call] { call->answer = std::exchange(call->job, {})(); },
                               [call, waker, lane, at = at_] {
                                   --at->lanes[lane];
                                   waker->wake(std::move(*call->answer));
                               });
        });
    }

    const PasswordCost cost_;
    std::shared_ptr<Counts> at_;
    std::vector<std::unique_ptr<Worker>> lanes_;  // The first that goes: its thread ends before all else.
};

}  // namespace

std::unique_ptr<Passwords> make_passwords(Loop& loop, PasswordCost cost) {
    HOSTLER_ASSERT(sodium_init() >= 0);
    return std::make_unique<ArgonPasswords>(loop, cost);
}

}  // namespace hostler::sodium
