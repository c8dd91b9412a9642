// Some of the disk kept back, so that a store on a full disk can still take things out.
#pragma once

#include <string>

#include "core/result.h"

namespace hostler::sqlite {

// A file of `bytes` beside the store. It is there: the space is kept. It is not: the space has been let go.
class Reserve {
public:
    Reserve(std::string path, std::string vfs, std::size_t bytes)
        : path_(std::move(path)), vfs_(std::move(vfs)), bytes_(bytes) {}

    bool held() const { return held_; }
    // Takes the space, unless it is held. Errors: exhausted, unavailable; then nothing is held.
    Result<> take();
    void release();

private:
    std::string path_;
    std::string vfs_;
    std::size_t bytes_;
    bool held_ = false;
};

}  // namespace hostler::sqlite
