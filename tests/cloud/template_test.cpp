// Instances from templates: an application whose image is made on the host, used as people use it.
#include <fstream>

#include "browser.h"
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;

class Templates : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        one = std::make_unique<Cloud>();
        one->make_stock(1, "notebook", "1Gi");
    }
    static void TearDownTestSuite() { one.reset(); }
    Page start(const std::string& name, json::object more) {
        json::object body{{"instanceID", name}, {"tenantID", "acme"}, {"specName", "notebook"}};
        for (auto& [key, value] : more) body[key] = value;
        return cloud.api("POST", "/gpu-instances", body);
    }
    // Running, with the URL of its only port.
    std::string started(const std::string& name, const json::object& more) {
        const Page begun = start(name, more);
        EXPECT_EQ(begun.status, 200) << begun.body;
        const Page running = cloud.wait_for(name, "running", std::chrono::minutes{10});
        return running.at("/urls/0/url");
    }
    void sign_in(Browser& browser, const std::string& url) {
        browser.open(url);
        ASSERT_TRUE(browser.type("#key", cloud.tenant("acme").key)) << browser.url();
        ASSERT_TRUE(browser.click("form button"));
    }
    static std::unique_ptr<Cloud> one;
    Cloud& cloud = *one;
};
std::unique_ptr<Cloud> Templates::one;

TEST_F(Templates, AreShownWithWhatTheyAsk) {
    const Ran listed = cloud.cli({"template", "list"});
    EXPECT_EQ(listed.code, 0) << listed.err;
    for (const char* name : {"jupyter", "shell", "static-web"}) EXPECT_THAT(listed.out, HasSubstr(name));
    EXPECT_EQ(cloud.api("GET", "/v1/templates/jupyter").at("/parameters/0/type"), "secret");
    EXPECT_EQ(cloud.api("GET", "/v1/templates/none").at("/code"), "template_not_found");
    const Page first = cloud.api("GET", "/v1/templates?limit=1");
    EXPECT_EQ(first.at("/items/0/name"), "jupyter");
    EXPECT_EQ(cloud.api("GET", "/v1/templates?limit=5&cursor=" + first.at("/nextCursor")).at("/items/0/name"),
              "shell");
}

TEST_F(Templates, WrongAnswersAreNamed) {
    const Page refused = start(
        "wrong", {{"templateName", "jupyter"},
                  {"parameters", json::array{json::object{{"name", "kernelIdleMinutes"}, {"value", "soon"}},
                                             json::object{{"name", "colour"}, {"value", "red"}}}}});
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_EQ(refused.at("/errors/0/field"), "parameters[0].value");
    EXPECT_EQ(refused.at("/errors/1/field"), "parameters[1].name");
    EXPECT_EQ(start("wrong", {{"templateName", "juypter"}}).at("/errors/0/field"), "templateName");
    EXPECT_EQ(start("wrong", {}).at("/errors/0/field"), "image");
}

TEST_F(Templates, ANotebookIsUsedInABrowserAndItsFilesOutliveIt) {
    const Page volume = cloud.api("POST", "/v1/volumes",
                                  json::object{{"name", "work"}, {"size", "512Mi"}, {"tenantID", "acme"}});
    ASSERT_EQ(volume.status, 201) << volume.body;
    const json::object notebook{{"templateName", "jupyter"}, {"storageID", "work"}};
    const std::string url = started("nb", notebook);
    EXPECT_EQ(cloud.instance("nb").at("/templateName"), "jupyter");

    Browser browser{cloud.web, cloud.folder + "/browser"};
    sign_in(browser, url);
    ASSERT_TRUE(browser.shows("#notebook_list")) << browser.url();
    EXPECT_THAT(browser.url(), HasSubstr(Url{url}.authority)) << "it is at its own origin";

    const std::string note = cloud.folder + "/note.txt";
    std::ofstream{note} << "kept over a stop";
    ASSERT_TRUE(browser.type("input.fileinput", note));
    ASSERT_TRUE(browser.click("button.upload_button"));
    ASSERT_TRUE(
        browser.until("return [...document.querySelectorAll('#notebook_list .item_name')]"
                      ".some(item => item.textContent === 'note.txt')"));

    // A cell is run by the kernel at the other end of a WebSocket.
    const auto made = browser.run(
        "const ask = new XMLHttpRequest(); ask.open('POST', '/api/contents', false);"
        "ask.setRequestHeader('Content-Type', 'application/json');"
        "ask.setRequestHeader('X-XSRFToken', document.cookie.match(/_xsrf=([^;]*)/)[1]);"
        "ask.send(JSON.stringify({type: 'notebook'})); return JSON.parse(ask.responseText).path");
    ASSERT_TRUE(made.is_string()) << json::serialize(made);
    browser.open(Url{url}.authority.insert(0, "http://") + "/notebooks/" + made.get_string().c_str());
    ASSERT_TRUE(
        browser.until("return typeof Jupyter !== 'undefined' && Jupyter.notebook?.kernel?.is_connected()"));
    browser.run("Jupyter.notebook.get_cell(0).set_text('print(\"six times seven is\", 6 * 7)')");
    ASSERT_TRUE(browser.click("#run_int button"));
    EXPECT_EQ(browser.text(".output_stdout pre"), "six times seven is 42");

    cloud.end("nb");
    const std::string again = started("nb-2", notebook);
    EXPECT_NE(again, url);
    sign_in(browser, again);
    ASSERT_TRUE(browser.shows("#notebook_list"));
    const auto kept = browser.run(
        "const ask = new XMLHttpRequest();"
        "ask.open('GET', '/api/contents/note.txt', false); ask.send();"
        "return JSON.parse(ask.responseText).content");
    EXPECT_EQ(kept, json::value("kept over a stop"));
    cloud.end("nb-2");
}

}  // namespace
}  // namespace hostler::cloud
