// A disk in memory that knows what was synced, and fails when it is told to.
#pragma once

#include <map>

#include "adapters/series/folder.h"

namespace hostler::series::testing {

// What outlives the process, and the power.
struct FakeDisk {
    struct File {
        std::string live;
        std::size_t synced = 0;  // As many bytes survive a power cut.
    };
    std::map<std::string, std::shared_ptr<File>> files;
    std::uint64_t calls = 0;
    std::uint64_t fail_call = 0;  // The n-th call that changes something fails, halfway; 0: none.
    bool fail_on = false;         // And all calls after it: the process is as good as dead.
    std::size_t room = SIZE_MAX;  // Bytes of all files.

    void lose_power() {
        for (auto& [name, file] : files) file->live.resize(std::min(file->live.size(), file->synced));
        recover();
    }
    void recover() {
        calls = fail_call = 0;
        fail_on = false;
    }
    std::size_t used() const {
        std::size_t bytes = 0;
        for (const auto& [name, file] : files) bytes += file->live.size();
        return bytes;
    }
};

class FakeFolder final : public Folder {
public:
    explicit FakeFolder(FakeDisk& disk) : disk_(disk) {}

    Result<std::vector<std::string>> list() override {
        std::vector<std::string> names;
        for (const auto& [name, file] : disk_.files) names.push_back(name);
        return names;
    }
    Result<> create(const std::string& name) override {
        TRY(enter());
        disk_.files[name] = std::make_shared<FakeDisk::File>();
        return {};
    }
    Result<> append(const std::string& name, std::string_view bytes) override {
        auto& file = *disk_.files.at(name);
        if (auto entered = enter(); !entered) {
            file.live += bytes.substr(0, bytes.size() / 2);
            return entered;
        }
        if (const auto used = disk_.used(); bytes.size() > disk_.room - std::min(disk_.room, used)) {
            file.live += bytes.substr(0, disk_.room - std::min(disk_.room, used));
            return fail(Code::exhausted, "cannot write: the disk is full", "disk_full");
        }
        file.live += bytes;
        return {};
    }
    Result<> cut(const std::string& name, std::uint64_t size) override {
        TRY(enter());
        auto& file = *disk_.files.at(name);
        file.live.resize(size);
        file.synced = std::min<std::size_t>(file.synced, size);
        return {};
    }
    Result<> sync(const std::string& name) override {
        TRY(enter());
        auto& file = *disk_.files.at(name);
        file.synced = file.live.size();
        return {};
    }
    Result<> rename(const std::string& from, const std::string& to) override {
        TRY(enter());
        auto file = disk_.files.extract(from);
        file.key() = to;
        disk_.files.erase(to);
        disk_.files.insert(std::move(file));
        return {};
    }
    Result<> remove(const std::string& name) override {
        TRY(enter());
        disk_.files.erase(name);
        return {};
    }
    Result<std::shared_ptr<const ReadFile>> open(const std::string& name) override {
        if (!disk_.files.contains(name)) return fail(Code::not_found, name + " is not there");
        return std::make_shared<const Read>(disk_.files.at(name));
    }

private:
    class Read final : public ReadFile {
    public:
        explicit Read(std::shared_ptr<FakeDisk::File> file) : file_(std::move(file)) {}
        std::uint64_t size() const override { return file_->live.size(); }
        Result<std::string> read(std::uint64_t at, std::size_t size) const override {
            if (at > file_->live.size() || size > file_->live.size() - at)
                return fail(Code::unavailable, "shorter than it was");
            return file_->live.substr(at, size);
        }

    private:
        std::shared_ptr<FakeDisk::File> file_;
    };

    Result<> enter() {
        ++disk_.calls;
        if (disk_.fail_call != 0 &&
            (disk_.calls == disk_.fail_call || (disk_.fail_on && disk_.calls > disk_.fail_call)))
            return fail(Code::unavailable, "the disk fails");
        return {};
    }
    FakeDisk& disk_;
};

}  // namespace hostler::series::testing
