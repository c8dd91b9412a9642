// What is open by virtue of a credential: it ends with the credential, not only with its connection.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "roles/gateway/verdicts.h"

namespace hostler::gateway {

class Stays {
public:
    // One open thing, for as long as this lives.
    class Stay {
    public:
        Stay(Stays& stays, Question by);
        ~Stay();
        Stay(const Stay&) = delete;
        Stay& operator=(const Stay&) = delete;
        bool ended() const { return ended_; }  // What let it in does so no more.
        // Called once, at once if it has ended; empty: nothing is to be done any more.
        void on_end(std::function<void()> cut);

    private:
        friend class Stays;
        Stays& stays_;
        std::multimap<Question, Stay*>::iterator at_;
        std::function<void()> cut_;
        bool ended_ = false;
    };

    void end(const Question& question);
    void end(const std::string& credential);  // Wherever it is shown.
    std::vector<Question> questions() const;  // By which something is open; each once.
    std::size_t size() const { return open_.size(); }

private:
    void end_if(const std::function<bool(const Question&)>& meant);
    std::multimap<Question, Stay*> open_;
};

}  // namespace hostler::gateway
