#include "sql/changes_text.h"

#include <gtest/gtest.h>

#include "sql/pieces.h"

namespace hostler::sql {
namespace {

Changes everything() {
    const WallTime time{std::chrono::microseconds{-1'700'000'000'000'001}};
    return {.number = 1'000'000'000'007,
            .put = {{.kind = "instance",
                     .id = "i-1",
                     .tenant = "acme",
                     .project = "p",
                     .phase = "ready",
                     .generation = 3,
                     .created = 4,
                     .live = false,
                     .body = std::string("{\"a\":\"\0\xff\"}", 11)},
                    {.kind = "host", .id = "h-1"}},
            .erase = {{"command", "c-1"}, {"", ""}},
            .events = {{time, "instance", "i-1", "acme", "key/k-1", "placed", "It was placed."}},
            .ledger = {{time, "c-1", "h-1", "acme", "instance", "{}"}},
            .audit = {{time,
                       "key/k-1",
                       "::1",
                       "createInstance",
                       "instance/i-1",
                       "acme",
                       -1,
                       "",
                       "{}",
                       "curl/8.1",
                       "p",
                       "nj",
                       "instance",
                       "denied",
                       "quota",
                       {7, "cafe"},
                       "beef"},
                      {.actor = "master", .request = "r-1"}},
            .seals = {{{7, "cafe"}, time, 3, "f00d", "CERTIFICATE", "c2ln"}}};
}

TEST(ChangesText, GoesThereAndBack) {
    std::string bytes;
    put_changes(bytes, everything());
    put_changes(bytes, {.number = 8});
    std::string_view rest = bytes;
    const auto first = take_changes(rest);
    ASSERT_TRUE(first);
    const Changes wanted = everything();
    EXPECT_EQ(first->number, wanted.number);
    EXPECT_EQ(first->put, wanted.put);
    EXPECT_EQ(first->erase, wanted.erase);
    EXPECT_EQ(first->events, wanted.events);
    EXPECT_EQ(first->ledger, wanted.ledger);
    EXPECT_EQ(first->audit, wanted.audit);
    EXPECT_EQ(first->seals, wanted.seals);
    EXPECT_EQ(take_changes(rest)->number, 8u);
    EXPECT_TRUE(rest.empty());
}

TEST(ChangesText, WhatIsCutOffIsRefusedAndWhatIsBehindIsPassedOver) {
    std::string bytes;
    put_changes(bytes, everything());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        std::string_view cut = std::string_view{bytes}.substr(0, size);
        const auto taken = take_changes(cut);
        ASSERT_FALSE(taken) << size;
        EXPECT_EQ(taken.error().code, Code::invalid);
    }
    std::string longer;
    put_text(longer, bytes.substr(4) + "of a later release");
    std::string_view rest = longer;
    EXPECT_EQ(take_changes(rest)->audit, everything().audit);
    EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace hostler::sql
