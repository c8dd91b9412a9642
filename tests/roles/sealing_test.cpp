// Secrets on a real disk: what is in the files of the store and in a backup, and what opens them.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "adapters/series/memory.h"
#include "adapters/sodium/sealer.h"
#include "adapters/sqlite/store.h"
#include "core/worker.h"
#include "ports/testing/played_outgoing.h"
#include "ports/testing/quick_passwords.h"
#include "rig.h"
#include "roles/master/server/master.h"
#include "sql/copy.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string marker = "tell-nobody-of-this";

std::string bytes_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

class SealedOnDisk : public ::testing::Test, public World {
protected:
    ~SealedOnDisk() override { end(); }
    std::string at(const std::string& name) const { return folder.path() + "/" + name; }
    void begin(const std::string& store_file, const std::string& ring) {
        worker_ = make_worker(loop, "store");
        store_ = open_sqlite(at(store_file), *worker_).value();
        sealer_ = sodium::open_sealer(at(ring)).value();
        master::Settings settings;
        settings.zones = {{"nj", "New Jersey"}};
        master_ = std::make_unique<master::Master>(
            settings, master::Ports{loop, *timers, *net, *random, *store_, *authority, digest,
                                    certified("master", "m-1"), series_, outgoing_, *sealer_, passwords_});
        tasks_ = std::make_unique<TaskGroup>(loop);
        tasks_->start("master", run());
    }
    Task<> run() {
        ended_ = co_await master_->run();
        co_return Result<>{};
    }
    void end() {
        if (tasks_) (void)go(tasks_->close());
        tasks_.reset(), master_.reset(), store_.reset(), worker_.reset();
        ended_.reset();
    }
    master::TermPtr term() { return master_->lead().term; }
    void add_secrets() {
        master::Desk& desk = term()->desk("test");
        Instance instance;
        instance.id = "i-1", instance.tenant = "acme", instance.phase = InstancePhase::resting;
        instance.spec.environment = {{"TOKEN", marker}};
        desk.estate.instances.add(instance);
        alert::Receiver receiver;
        receiver.id = "acme/ops", receiver.tenant = "acme", receiver.secret = marker;
        desk.estate.alert_receivers.add(receiver);
        desk.estate.answers.add({.id = "acme/a",
                                 .tenant = "acme",
                                 .digest = "d",
                                 .body = marker,
                                 .expires_at = desk.estate.micros() + 3'600'000'000});
        ASSERT_TRUE(go(term()->commit()));
    }
    std::string backup() {
        const auto reading = go(store_->backup(timers->wall(), digest));
        std::string all;
        for (std::string piece = go((*reading)->next()).value(); !piece.empty();
             piece = go((*reading)->next()).value())
            all += piece;
        return all;
    }
    Result<> restore(const std::string& text, const std::string& store_file) {
        sql::BackupReader reader{[text, done = false]() mutable -> Result<std::string> {
                                     return std::exchange(done, true) ? std::string{} : text;
                                 },
                                 digest};
        const auto target = TRY(open_sqlite_alone(at(store_file), IfMissing::make));
        TRY(sql::restore(reader, *target, digest, {.time = timers->wall().time_since_epoch().count()}));
        return {};
    }

    std::unique_ptr<Worker> worker_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<Sealer> sealer_;
    series::MemoryRows rows_;
    series::MemoryStore series_{rows_};
    hostler::testing::PlayedOutgoing outgoing_{*timers};
    hostler::testing::QuickPasswords passwords_;
    std::unique_ptr<master::Master> master_;
    std::unique_ptr<TaskGroup> tasks_;
    std::optional<Result<>> ended_;
};

TEST_F(SealedOnDisk, FilesAndBackupsHoldNoSecretAndOpenWithTheKeyAlone) {
    begin("store.db", "ring");
    ASSERT_TRUE(go(master_->ready()));
    add_secrets();
    const std::string saved = backup();
    EXPECT_THAT(saved, HasSubstr("i-1"));
    EXPECT_THAT(saved, Not(HasSubstr(marker)));
    for (const auto& entry : std::filesystem::directory_iterator{folder.path()})
        if (entry.path().filename().string().starts_with("store.db"))
            EXPECT_THAT(bytes_of(entry.path()), Not(HasSubstr(marker))) << entry.path();
    EXPECT_THAT(bytes_of(at("store.db-wal")), HasSubstr("TOKEN")) << "what was written is there";
    end();
    EXPECT_THAT(bytes_of(at("store.db")), Not(HasSubstr(marker)));
    const auto ids = sodium::ids_of_sealing_keys(bytes_of(at("ring"))).value();
    ASSERT_EQ(ids.size(), 1u);
    EXPECT_THAT(saved, HasSubstr(ids[0]));
    EXPECT_THAT(saved, Not(HasSubstr(bytes_of(at("ring")).substr(40, 64)))) << "nor the key itself";

    ASSERT_TRUE(restore(saved, "restored.db"));
    begin("restored.db", "no ring");
    ASSERT_TRUE(eventually([&] { return ended_.has_value(); })) << "it does not lead";
    EXPECT_EQ(ended_->error().reason, "sealing_key_missing");
    EXPECT_THAT(ended_->error().message, HasSubstr(ids[0]));
    EXPECT_THAT(ended_->error().message, HasSubstr("hostler seal import"));
    EXPECT_FALSE(std::filesystem::exists(at("no ring"))) << "nor does it make a key of its own";
    end();

    ASSERT_TRUE(sodium::add_sealing_keys(at("no ring"), sodium::read_sealing_keys(at("ring")).value()));
    begin("restored.db", "no ring");
    ASSERT_TRUE(go(master_->ready()));
    const auto& estate = term()->look().estate;
    EXPECT_EQ(estate.instances.at("i-1").spec.environment.at(0).value, marker);
    EXPECT_EQ(estate.alert_receivers.at("acme/ops").secret, marker);
}

}  // namespace
}  // namespace hostler::rig
