// What keeps a container's mounts beside it, for tests.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hostler::testing {

// What has copies of all mounts of this moment, and holds them: as an engine's monitor of a container.
class Monitor {
public:
    Monitor() {
        int ready[2];
        if (::pipe2(ready, O_CLOEXEC) != 0) return;
        pid_ = ::fork();
        if (pid_ == 0) {
            if (::unshare(CLONE_NEWNS) != 0 ||
                ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
                ::_exit(1);
            (void)!::write(ready[1], "x", 1);
            while (true) ::pause();
        }
        ::close(ready[1]);
        char said = 0;
        runs = ::read(ready[0], &said, 1) == 1;
        ::close(ready[0]);
    }
    ~Monitor() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Monitor(const Monitor&) = delete;
    bool runs = false;

private:
    pid_t pid_ = -1;
};

}  // namespace hostler::testing
