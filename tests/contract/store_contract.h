// What every store promises (ports/store.h). An adapter's test instantiates the suite with its rigs.
#pragma once

#include <gtest/gtest.h>

#include "core/testing/real_timers.h"
#include "ports/store.h"

namespace hostler::contract {

inline const Contender m1{"m-1", "one:7440"};
inline const Contender m2{"m-2", "two:7440"};
inline constexpr std::chrono::minutes lease_time{10};  // No test is to wait for its end.

// One empty store, which may be closed and opened again.
class StoreRig {
public:
    virtual ~StoreRig() = default;
    virtual Result<std::unique_ptr<Store>> open() = 0;
    Loop loop;
};

struct StoreKind {
    std::string name;
    std::function<std::unique_ptr<StoreRig>()> make;
};

class StoreContract : public ::testing::TestWithParam<StoreKind> {
protected:
    void SetUp() override {
        rig_ = GetParam().make();
        reopen();
        epoch_ = run(store_->lead(m1, lease_time, 0)).value().epoch;
    }
    void reopen() {
        store_.reset();
        auto opened = rig_->open();
        ASSERT_TRUE(opened) << opened.error().message;
        store_ = std::move(*opened);
    }
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(rig_->loop, std::move(task));
    }
    Changes next() { return {.epoch = epoch_, .number = ++number_}; }
    Result<> commit(Changes changes) { return run(store_->commit(std::move(changes))); }
    Result<> put(Object object) {
        Changes changes = next();
        changes.put.push_back(std::move(object));
        return commit(std::move(changes));
    }

    std::unique_ptr<StoreRig> rig_;
    std::unique_ptr<Store> store_;
    std::uint64_t epoch_ = 0;
    std::uint64_t number_ = 0;
};

}  // namespace hostler::contract
