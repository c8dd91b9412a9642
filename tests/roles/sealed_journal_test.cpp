// What tenants tell their programs passes through the journal of an agent, on a real disk, and cannot be read
// there.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "adapters/disk/journal.h"
#include "adapters/sodium/sealer.h"
#include "core/testing/manual_timers.h"
#include "core/testing/real_timers.h"
#include "core/worker.h"
#include "proto/uplink.pb.h"
#include "rig.h"
#include "roles/agent/book.h"

namespace hostler::rig {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view secret = "hunter2-in-the-clear";

class SealedJournal : public ::testing::Test {
protected:
    SealedJournal() { open(); }
    void open() {
        journal_.reset();
        worker_ = make_worker(loop_, "journal");
        auto sealer = sodium::open_sealer(path("journal.keys"));
        HOSTLER_ASSERT(sealer);
        sealer_ = std::move(*sealer);
        if (sealer_->keys().empty()) HOSTLER_ASSERT(sealer_->make());
        auto journal = disk::open_journal(*worker_, path("journal"));
        HOSTLER_ASSERT(journal);
        journal_ = std::move(*journal);
    }
    std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
    template <class T>
    Result<T> run(Task<T> task) {
        return hostler::testing::run_real(loop_, std::move(task));
    }
    uplink::Command command(const std::string& id = "cmd-1") const {
        uplink::Command made;
        made.set_id(id);
        made.set_epoch(1);
        made.set_subject("i-1");
        made.set_generation(1);
        made.mutable_start_workload()->set_instance("i-1");
        auto& variable = *made.mutable_start_workload()->add_environment();
        variable.set_name("PASSWORD");
        variable.set_value(std::string{secret});
        return made;
    }
    // The files of the folder that have it in them.
    std::vector<std::string> files_with_it() const {
        std::vector<std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator{folder_.path()}) {
            std::ifstream file{entry.path(), std::ios::binary};
            const std::string bytes{std::istreambuf_iterator<char>(file), {}};
            if (bytes.find(secret) != std::string::npos) found.push_back(entry.path().filename());
        }
        return found;
    }
    static uplink::CommandUpdate done(const std::string& id) {
        uplink::CommandUpdate answer;
        answer.set_id(id);
        answer.set_state("done");
        return answer;
    }

    Loop loop_;
    hostler::testing::ManualTimers timers_{loop_};
    testing::TempFolder folder_;
    std::unique_ptr<Worker> worker_;
    std::unique_ptr<Sealer> sealer_;
    std::unique_ptr<Journal> journal_;
};

TEST_F(SealedJournal, ASecretVariableIsInNoFileWhileItsCommandIsDoneAndAfterIt) {
    {
        agent::CommandBook book{*journal_, timers_, sealer_.get()};
        ASSERT_TRUE(run(book.admit(command())));
        EXPECT_THAT(files_with_it(), ::testing::IsEmpty());
    }
    struct stat keys{};
    ASSERT_EQ(::stat(path("journal.keys").c_str(), &keys), 0);
    EXPECT_EQ(keys.st_mode & 0777U, 0600U);
    open();  // The next life goes on with it.
    agent::CommandBook book{*journal_, timers_, sealer_.get()};
    book.load();
    ASSERT_EQ(book.unfinished().size(), 1U);
    EXPECT_EQ(book.unfinished().front().start_workload().environment(0).value(), secret);
    ASSERT_TRUE(run(book.finish(done("cmd-1"))));
    ASSERT_TRUE(run(book.acknowledge("cmd-1")));
    EXPECT_THAT(files_with_it(), ::testing::IsEmpty());
}

TEST_F(SealedJournal, WhatAnOlderAgentWroteIsSealedAndItsPastGoes) {
    {
        agent::CommandBook older{*journal_, timers_};
        ASSERT_TRUE(run(older.admit(command("cmd-0"))));
        ASSERT_TRUE(run(older.finish(done("cmd-0"))));
        ASSERT_TRUE(run(older.admit(command("cmd-1"))));
    }
    ASSERT_THAT(files_with_it(), ::testing::ElementsAre("journal"));
    open();
    agent::CommandBook book{*journal_, timers_, sealer_.get()};
    book.load();
    ASSERT_TRUE(run(book.seal()));
    EXPECT_THAT(files_with_it(), ::testing::IsEmpty());
    ASSERT_EQ(book.unfinished().size(), 1U);
    EXPECT_EQ(book.unfinished().front().id(), "cmd-1");
}

TEST_F(SealedJournal, ACommandWhoseKeyIsLostIsBegunAgainWhenItComesAgain) {
    {
        agent::CommandBook book{*journal_, timers_, sealer_.get()};
        ASSERT_TRUE(run(book.admit(command())));
    }
    fs::remove(path("journal.keys"));
    open();
    agent::CommandBook book{*journal_, timers_, sealer_.get()};
    book.load();
    EXPECT_TRUE(book.unfinished().empty());
    const auto admission = run(book.admit(command()));
    ASSERT_TRUE(admission);
    EXPECT_TRUE(admission->begin);
}

TEST_F(SealedJournal, TheLargestCommandFits) {
    auto large = command();
    large.mutable_start_workload()->mutable_environment(0)->set_value(std::string(1'000'000, 'x'));
    agent::CommandBook book{*journal_, timers_, sealer_.get()};
    const auto admission = run(book.admit(large));
    ASSERT_TRUE(admission);
    EXPECT_TRUE(admission->begin);
}

}  // namespace
}  // namespace hostler::rig
