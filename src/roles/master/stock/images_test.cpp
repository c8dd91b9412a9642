#include "roles/master/stock/images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/master/stock/slots.h"
#include "roles/master/stock/view.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr const char* nginx = "docker.io/library/nginx:1.27";

struct ImagesRig : testing::DeskRig {
    ImagesRig() {
        settings.templates.push_back(
            {.name = "jupyter", .title = "Jupyter", .help = "", .image = "localhost/jupyter:1"});
    }
    // A host that tells which images it has.
    std::string host_with(const std::string& name, std::set<std::string> images, int gpus = 4) {
        const std::string id = host(name, "nj", gpus);
        live.hosts[id].images = std::move(images);
        return id;
    }
    Result<> prepare(std::vector<std::string> images, std::vector<std::string> templates = {}) {
        return prepare_stock(
            desk, {.spec = "small", .images = std::move(images), .templates = std::move(templates)});
    }
    // Host and image of each pull under way.
    std::vector<std::pair<std::string, std::string>> pulls() {
        std::vector<std::pair<std::string, std::string>> all;
        for (const auto& [id, command] : estate.commands.all())
            if (command.verb == Verb::pull_image) all.emplace_back(command.host, command.image);
        std::ranges::sort(all);
        return all;
    }
    // Every pull under way is answered so.
    void answer_all(const CommandAnswer& answer) {
        std::vector<HostCommand> all;
        for (const auto& [id, command] : estate.commands.all())
            if (command.verb == Verb::pull_image) all.push_back(command);
        for (const auto& command : all) note_answer(desk, command.host, command.id, answer);
    }
    PreparedImage image(std::size_t index = 0) { return prepared_images(desk, "small").at(index); }
};

using Pull = std::pair<std::string, std::string>;

TEST(ImagesInAdvance, AreAskedForWhereTheStockIsAndTheyAreNot) {
    ImagesRig rig;
    rig.host_with("a", {});
    rig.host_with("b", {nginx});
    rig.host_with("c", {});
    ASSERT_TRUE(rig.stock(8)) << "two hosts of four GPUs";
    ASSERT_TRUE(rig.prepare({"nginx:1.27"}, {"jupyter"}));
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre(Pull{"h-a", "localhost/jupyter:1"}, Pull{"h-a", "nginx:1.27"},
                                         Pull{"h-b", "localhost/jupyter:1"}))
        << "b has nginx under its full name; nothing of the stock is on c";
    EXPECT_EQ(rig.image(0).hosts, 2);
    EXPECT_EQ(rig.image(0).present, 1);
    EXPECT_EQ(rig.image(0).pulling, 1);
    EXPECT_EQ(rig.image(1).template_name, "jupyter");
    reconcile_images(rig.desk);
    EXPECT_EQ(rig.pulls().size(), 3u) << "each is asked for once";
    rig.answer_all({.done = true});
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre());
    EXPECT_EQ(view_stock(rig.desk, rig.estate.specs.at("small")).images_present, "4 of 4");
}

TEST(ImagesInAdvance, ComeAFewAtATime) {
    ImagesRig rig;
    rig.settings.pulls_ahead_host_max = 2;
    rig.settings.pulls_ahead_max = 3;
    rig.host_with("a", {});
    rig.host_with("b", {});
    ASSERT_TRUE(rig.stock(8));
    ASSERT_TRUE(rig.prepare({"one", "two", "three"}));
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre(Pull{"h-a", "one"}, Pull{"h-a", "two"}, Pull{"h-b", "one"}));
    rig.answer_all({.done = true});
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre(Pull{"h-a", "three"}, Pull{"h-b", "three"}, Pull{"h-b", "two"}));
}

TEST(ImagesInAdvance, AFailureIsShownAndTriedAgainLessAndLess) {
    ImagesRig rig;
    rig.host_with("a", {});
    ASSERT_TRUE(rig.stock(1));
    ASSERT_TRUE(rig.prepare({"nobody-has:1"}));
    // Seconds between a failure and the next try.
    const auto next_try = [&] {
        for (int s = 0; s < 2000; ++s, rig.pass(1)) {
            reconcile_images(rig.desk);
            if (!rig.pulls().empty()) return s;
        }
        return -1;
    };
    EXPECT_EQ(next_try(), 0);
    std::vector<int> waits;
    for (int tries = 0; tries < 8; ++tries) {
        rig.answer_all({.code = "not_found", .reason = "image_unavailable", .message = "nobody has it"});
        EXPECT_EQ(rig.image().failed, 1);
        EXPECT_EQ(rig.image().reason, "image_unavailable");
        EXPECT_THAT(rig.image().message, HasSubstr("host h-a: nobody has it"));
        waits.push_back(next_try());
    }
    EXPECT_THAT(waits, ElementsAre(10, 20, 40, 80, 160, 320, 600, 600));
    rig.answer_all({.done = true});
    EXPECT_EQ(rig.image().failed, 0);
    EXPECT_EQ(rig.image().present, 1);
    EXPECT_TRUE(rig.image().reason.empty());
}

TEST(ImagesInAdvance, OnlyHostsThatTakeWorkAndTellTheirImagesAreAsked) {
    ImagesRig rig;
    rig.host_with("a", {});
    rig.host_with("b", {});
    rig.host("c");  // An agent that says nothing of images.
    ASSERT_TRUE(rig.stock(12));
    ASSERT_TRUE(cordon_host(rig.desk, "h-b", true));
    ASSERT_TRUE(rig.prepare({nginx}));
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre(Pull{"h-a", nginx}));
    ASSERT_TRUE(cordon_host(rig.desk, "h-b", false));
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre(Pull{"h-a", nginx}, Pull{"h-b", nginx}));
}

TEST(ImagesInAdvance, OneThatIsGoneAgainIsAskedForAnew) {
    ImagesRig rig;
    rig.host_with("a", {nginx});
    ASSERT_TRUE(rig.stock(1));
    ASSERT_TRUE(rig.prepare({nginx}));
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre());
    HostReport report{.sequence = 9, .images = std::set<std::string>{}};
    report.facts = rig.estate.hosts.at("h-a").facts;
    note_report(rig.desk, "h-a", report, rig.now);
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre(Pull{"h-a", nginx}));
}

TEST(ImagesInAdvance, AListThatIsCutShortTakesNothingAway) {
    ImagesRig rig;
    rig.host_with("a", {nginx});
    HostReport report{
        .sequence = 9, .images = std::set<std::string>{"docker.io/library/a:1"}, .images_truncated = true};
    report.facts = rig.estate.hosts.at("h-a").facts;
    note_report(rig.desk, "h-a", report, rig.now);
    EXPECT_TRUE(has_image(rig.desk, "h-a", nginx));
    EXPECT_TRUE(has_image(rig.desk, "h-a", "a:1"));
}

TEST(ImagesInAdvance, ReplaceThoseBeforeAndNoneEndsIt) {
    ImagesRig rig;
    rig.host_with("a", {});
    ASSERT_TRUE(rig.stock(1));
    ASSERT_TRUE(rig.prepare({"one"}));
    ASSERT_TRUE(rig.prepare({"two"}));
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre(Pull{"h-a", "two"}));
    (void)rig.take();
    ASSERT_TRUE(rig.prepare({"two"}));
    EXPECT_TRUE(rig.estate.unchanged()) << "the same again";
    ASSERT_TRUE(rig.prepare({}));
    EXPECT_TRUE(prepared_images(rig.desk, "small").empty());
    EXPECT_EQ(view_stock(rig.desk, rig.estate.specs.at("small")).images_present, "");
    (void)rig.take();
    ASSERT_TRUE(rig.prepare({}));
    EXPECT_TRUE(rig.estate.unchanged());
}

TEST(ImagesInAdvance, WhatIsNotThereIsNamed) {
    ImagesRig rig;
    EXPECT_EQ(rig.prepare({nginx}).error().reason, "spec_not_found");
    rig.host_with("a", {});
    ASSERT_TRUE(rig.stock(1));
    const auto wrong = rig.prepare({}, {"jupyter", "fortran"});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Code::invalid);
    ASSERT_EQ(wrong.error().fields.size(), 1u);
    EXPECT_EQ(wrong.error().fields[0].path, "templates[1]");
    // A template that a later master does not know any more.
    ASSERT_TRUE(rig.prepare({}, {"jupyter"}));
    rig.settings.templates.clear();
    reconcile_images(rig.desk);
    EXPECT_THAT(rig.pulls(), ElementsAre());
    EXPECT_EQ(rig.image().reason, "template_not_found");
}

TEST(ImagesInAdvance, AnInstanceTakesTheSlotWhoseHostHasItsImage) {
    ImagesRig rig;
    rig.host_with("a", {});
    rig.host_with("b", {"docker.io/library/demo:1"});
    ASSERT_TRUE(rig.stock(8));
    EXPECT_EQ(rig.instance(rig.started("one")).host, "h-b");
    rig.live.hosts["h-b"].images->clear();
    rig.live.hosts["h-a"].images->insert("docker.io/library/demo:1");
    EXPECT_EQ(rig.instance(rig.started("two")).host, "h-a");
    ASSERT_TRUE(cordon_host(rig.desk, "h-a", true));
    EXPECT_EQ(rig.instance(rig.started("three")).host, "h-b") << "what is required comes first";
}

TEST(ImagesInAdvance, WithoutStockTheHostThatHasTheImageIsTakenOfThoseAsFull) {
    ImagesRig rig;
    rig.host_with("a", {});
    rig.host_with("b", {"docker.io/library/demo:1"});
    ASSERT_TRUE(rig.stock(1)) << "on a: its id comes first";
    ASSERT_TRUE(delete_stock(rig.desk, {.number = 1, .spec_name = "small"}));
    EXPECT_EQ(rig.instance(rig.started("one")).host, "h-b");
    ASSERT_TRUE(rig.stock(2)) << "on b: it is the fuller one";
    ASSERT_TRUE(delete_stock(rig.desk, {.number = 2, .spec_name = "small"}));
    rig.live.hosts["h-b"].images->clear();
    rig.live.hosts["h-a"].images->insert("docker.io/library/demo:1");
    EXPECT_EQ(rig.instance(rig.started("two")).host, "h-b") << "whole hosts stay free: that counts more";
}

}  // namespace
}  // namespace hostler::master
