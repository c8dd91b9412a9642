// Podman deletes a full log file and starts a new one. A program that ends right then would leave an empty
// log. The old file is kept here: each log file has a hard link beside it, and so has the file before it.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace hostler::docker {

class HeldLogs {
public:
    HeldLogs() = default;
    ~HeldLogs();
    HeldLogs(const HeldLogs&) = delete;

    // From now on, until its folder is removed. May be repeated. Blocks for a moment. A log that cannot be
    // held is read without what was before.
    void hold(const std::string& path);

private:
    bool start();
    void watch();
    void read_events();

    std::mutex mutex_;
    std::map<int, std::string> paths_;  // By the number of the watch on its folder.
    int events_ = -1, end_ = -1;        // inotify; written to when the thread is to end.
    std::thread thread_;                // The kernel's word must be acted on at once, whatever the loop does.
};

}  // namespace hostler::docker
