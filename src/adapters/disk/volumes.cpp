// The port: one thread for what answers at once, one for what takes its time.
#include "adapters/disk/volumes.h"

namespace hostler::disk {

namespace {

class Volumes final : public HostVolumes {
public:
    Volumes(Worker& quick, Worker& slow, std::shared_ptr<VolumeStore> store)
        : quick_(quick), slow_(slow), store_(std::move(store)) {
        slow_.post([store = store_] { store->sweep(); }, [] {});
    }

    Task<> create(std::string id, std::uint64_t size_bytes) override {
        co_return co_await run_on<void>(
            slow_, [store = store_, id, size_bytes] { return store->create(id, size_bytes); });
    }
    Task<Attached> attach(std::string id, IdRange ids) override {
        co_return co_await run_on<Attached>(slow_,
                                            [store = store_, id, ids] { return store->attach(id, ids); });
    }
    Task<> remove(std::string id) override {
        co_return co_await run_on<void>(slow_, [store = store_, id] { return store->remove(id); });
    }
    Task<std::vector<std::string>> list() override {
        co_return co_await run_on<std::vector<std::string>>(quick_,
                                                            [store = store_] { return store->list(); });
    }
    Task<Room> room() override {
        co_return co_await run_on<Room>(quick_, [store = store_] { return store->room(); });
    }
    Task<std::map<std::string, DiskUse>> uses() override {
        co_return co_await run_on<std::map<std::string, DiskUse>>(quick_,
                                                                  [store = store_] { return store->uses(); });
    }

private:
    Worker& quick_;
    Worker& slow_;
    std::shared_ptr<VolumeStore> store_;
};

}  // namespace

Result<std::unique_ptr<HostVolumes>> open_volumes(Worker& quick, Worker& slow, VolumeSettings settings,
                                                  std::unique_ptr<Images> images) {
    auto store = TRY(VolumeStore::open(std::move(settings), std::move(images)));
    return std::make_unique<Volumes>(quick, slow, std::make_shared<VolumeStore>(std::move(store)));
}

}  // namespace hostler::disk
