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
        one = std::make_unique<Cloud>(std::vector<std::string>{"--demo", "--prepare", "static-web"});
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
    Ran sh(const std::string& line) {
        return run_program({"/bin/sh", "-c", line}, {{"HOSTLER_API", cloud.api_url},
                                                     {"HOSTLER_KEY", cloud.tenant("acme").key},
                                                     {"HOSTLER_CONFIG", cloud.folder + "/cli.toml"},
                                                     {"H", HOSTLER},
                                                     {"D", cloud.folder}});
    }
    void sign_in(Browser& browser, const std::string& url) {
        browser.open(url);
        ASSERT_TRUE(browser.click("summary")) << browser.url();  // Use a key.
        ASSERT_TRUE(browser.type("#key", cloud.tenant("acme").key)) << browser.url();
        ASSERT_TRUE(browser.click("#use-key"));
    }
    static std::unique_ptr<Cloud> one;
    Cloud& cloud = *one;
};
std::unique_ptr<Cloud> Templates::one;

// `hostler up --prepare` is ended while it makes an image, and goes on with it.
TEST_F(Templates, AnImageIsMadeInTheBackgroundAndSurvivesCtrlC) {
    const auto says = [&](const std::string& words) {
        return sh("cat $D/up.log").out.contains("The image of template static-web " + words);
    };
    ASSERT_TRUE(cloud.until([&] { return says("is being made in the background"); }, 60s))
        << sh("cat $D/up.log").out;
    const auto pulling = [&] { return cloud.stock("demo").at("/images/0/pulling") != "0"; };
    ASSERT_TRUE(cloud.until(pulling)) << cloud.stock("demo").body;
    cloud.stop();
    EXPECT_THAT(cloud.processes(), ::testing::IsEmpty());
    EXPECT_THAT(cloud.mounts(), ::testing::IsEmpty());
    EXPECT_FALSE(says("is ready"));
    cloud.start();
    EXPECT_TRUE(
        cloud.until([&] { return says("is ready: hostler instance create nb"); }, std::chrono::minutes{8}))
        << sh("cat $D/up.log").out << cloud.stock("demo").body;
    EXPECT_FALSE(says("could not be made"));
    EXPECT_EQ(cloud.stock("demo").at("/imagesPresent"), "2 of 2");
}

TEST_F(Templates, WhoeverWaitsSeesTheStepsOfABuild) {
    const Ran created = cloud.cli({"instance", "create", "early", "--template", "shell", "--spec", "notebook",
                                   "--tenant", "acme", "--wait", "--timeout", "9m"});
    EXPECT_EQ(created.code, 0) << created.err;
    EXPECT_THAT(created.err,
                ::testing::ContainsRegex("making image localhost/hostler/shell:1: step [0-9]+ of [0-9]+: "
                                         "[A-Z].* … [0-9]+s\n"));
    cloud.end("early");
}

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

TEST_F(Templates, TheirImagesAreThereBeforeAnybodyAsks) {
    const Ran asked = cloud.cli({"stock", "prepare", "notebook", "--template", "static-web", "--template",
                                 "shell", "--template", "jupyter"});
    ASSERT_EQ(asked.code, 0) << asked.err;
    Page stock;
    ASSERT_TRUE(cloud.until(
        [&] {
            stock = cloud.stock("notebook");
            return stock.at("/imagesPresent") == "3 of 3";
        },
        std::chrono::minutes{10}))
        << stock.body;
    EXPECT_EQ(stock.at("/images/1/template"), "shell");
    EXPECT_EQ(stock.at("/images/1/present"), "1");
    const Ran listed = cloud.cli({"stock", "list"});
    EXPECT_THAT(listed.out, HasSubstr("3 of 3"));
    // What cannot be had says why, and does not keep the others from coming.
    ASSERT_EQ(cloud
                  .cli({"stock", "prepare", "notebook", "--template", "shell", "--image",
                        "localhost/nobody-has-this:1"})
                  .code,
              0);
    EXPECT_TRUE(cloud.until([&] {
        stock = cloud.stock("notebook");
        return stock.at("/images/0/failed") == "1" && stock.at("/imagesPresent") == "1 of 2";
    })) << stock.body;
    EXPECT_EQ(stock.at("/images/0/reason"), "image_unavailable");
    EXPECT_THAT(stock.at("/images/0/message"), HasSubstr("localhost/nobody-has-this:1"));
}

TEST_F(Templates, AStaticSiteServesTheFilesOfItsVolumeAndLogsThat) {
    ASSERT_EQ(cloud
                  .api("POST", "/v1/volumes",
                       json::object{{"name", "site"}, {"size", "512Mi"}, {"tenantID", "acme"}})
                  .status,
              201);
    const json::object site{
        {"templateName", "static-web"},
        {"storageID", "site"},
        {"parameters", json::array{json::object{{"name", "singlePage"}, {"value", "true"}}}}};
    const std::string url = started("web", site);
    const Ran copied = sh("echo '<h1>ours</h1>' > $D/index.html && $H cp $D/index.html web:/data/");
    EXPECT_EQ(copied.code, 0) << copied.err;
    const auto get = [&](const std::string& path) {
        return cloud.web.fetch("GET", url + path, {{"X-Hostler-Key", cloud.tenant("acme").key}});
    };
    EXPECT_EQ(get("index.html").body, "<h1>ours</h1>\n");
    EXPECT_EQ(get("some/view").body, "<h1>ours</h1>\n") << "a single page answers for every path";
    EXPECT_TRUE(cloud.until([&] {
        return cloud.cli({"instance", "logs", "web"}).out.contains("GET /some/view");
    })) << cloud.cli({"instance", "logs", "web"}).out;
    cloud.end("web");
}

// The machine's own OpenSSH, through the way that `hostler proxy` makes.
TEST_F(Templates, OpenSshWorksInAShell) {
    ASSERT_EQ(sh("ssh-keygen -q -t ed25519 -N '' -f $D/id").code, 0) << "openssh-client is needed";
    std::ifstream file{cloud.folder + "/id.pub"};
    std::string key;
    std::getline(file, key);
    started("box", {{"templateName", "shell"},
                    {"parameters", json::array{json::object{{"name", "sshKeys"}, {"value", key}}}}});
    std::ofstream{cloud.folder + "/ssh_config"} << fmt::format(
        "Host *.hostler\n  User root\n  IdentityFile {0}/id\n  IdentitiesOnly yes\n"
        "  UserKnownHostsFile {0}/known_hosts\n  StrictHostKeyChecking accept-new\n  BatchMode yes\n"
        "  LogLevel ERROR\n  ProxyCommand {1} proxy $(basename %h .hostler) %p\n",
        cloud.folder, HOSTLER);
    const Ran ran = sh("ssh -F $D/ssh_config box.hostler 'echo out; echo err >&2; exit 7'");
    EXPECT_EQ(ran.code, 7) << ran.err;
    EXPECT_EQ(ran.out, "out\n");
    EXPECT_EQ(ran.err, "err\n");
    std::ofstream{cloud.folder + "/four"} << pattern(4 << 20);
    const Ran counted =
        sh("ssh -F $D/ssh_config box.hostler 'cat > /data/four; wc -c < /data/four' < $D/four");
    EXPECT_EQ(counted.out, "4194304\n") << counted.err;
    const Ran copied =
        sh("scp -q -F $D/ssh_config box.hostler:/data/four $D/back && cmp $D/four $D/back && echo same");
    EXPECT_EQ(copied.out, "same\n") << copied.err;
    cloud.end("box");
}

// Runs a cell: a kernel of its own is started by REST, and gets it over a WebSocket, as JupyterLab itself
// does.
void begin_cell(Browser& browser, const std::string& code) {
    browser.run(
        "window.said = ''; window.done = false;"
        "const ask = new XMLHttpRequest(); ask.open('POST', '/api/kernels', false);"
        "ask.setRequestHeader('X-XSRFToken', document.cookie.match(/_xsrf=([^;]*)/)[1]);"
        "ask.send(JSON.stringify({name: 'python3'}));"
        "const id = JSON.parse(ask.responseText).id;"
        "const kernel = new WebSocket('ws://' + location.host + '/api/kernels/' + id + '/channels');"
        "kernel.onopen = () => kernel.send(JSON.stringify({channel: 'shell',"
        "  header: {msg_id: 'm', session: 's', username: '', version: '5.3', msg_type: 'execute_request',"
        "           date: new Date().toISOString()},"
        "  parent_header: {}, metadata: {}, buffers: [],"
        "  content: {silent: false, store_history: false, user_expressions: {}, allow_stdin: false,"
        "            stop_on_error: true, code: " +
        json::serialize(json::value(code)) +
        "}}));"
        "kernel.onmessage = event => { const told = JSON.parse(event.data);"
        "  if (told.msg_type === 'stream') window.said += told.content.text;"
        "  if (told.msg_type === 'error') window.said += told.content.traceback.join(' ');"
        "  if (told.msg_type === 'status' && told.content.execution_state === 'idle' &&"
        "      told.parent_header.msg_id === 'm') window.done = true; };");
}

// What it writes until it has ended.
std::string said_by_cell(Browser& browser, const std::string& code) {
    begin_cell(browser, code);
    EXPECT_TRUE(browser.until("return window.done", 60s));
    return browser.run("return window.said").as_string().c_str();
}

TEST_F(Templates, ANotebookIsUsedInABrowserAndItsFilesOutliveIt) {
    const Page volume = cloud.api("POST", "/v1/volumes",
                                  json::object{{"name", "work"}, {"size", "512Mi"}, {"tenantID", "acme"}});
    ASSERT_EQ(volume.status, 201) << volume.body;
    const json::object notebook{{"templateName", "jupyter"}, {"storageID", "work"}};
    const std::string url = started("nb", notebook);
    EXPECT_EQ(cloud.instance("nb").at("/templateName"), "jupyter");
    EXPECT_THAT(url, ::testing::EndsWith("/lab"));

    Browser browser{cloud.web, cloud.folder + "/browser"};
    sign_in(browser, url);
    ASSERT_TRUE(browser.shows(".jp-LabShell", 60s)) << browser.url();
    EXPECT_THAT(browser.url(), HasSubstr(Url{url}.authority)) << "it is at its own origin";
    ASSERT_TRUE(browser.shows(".jp-LauncherCard", 60s)) << "a kernel to choose is shown";
    EXPECT_EQ(browser.run("return JSON.parse(document.querySelector('#jupyter-config-data').textContent)"
                          ".disabledExtensions"),
              (json::array{"@jupyterlab/apputils-extension:announcements"}))
        << "nobody is asked for news";

    const auto gpus = said_by_cell(browser,
                                   "import glob, numpy\n"
                                   "print('six times seven is', int(numpy.dot(6, 7)))\n"
                                   "print(len(glob.glob('/dev/nvidia[0-9]*')), 'GPU')\n"
                                   "open('/data/note.txt', 'w').write('kept over a stop')");
    EXPECT_EQ(gpus, "six times seven is 42\n1 GPU\n");
    // A kernel that works is use, also when no page is open.
    begin_cell(browser, "import time\nprint('begun', flush=True)\ntime.sleep(120)");
    ASSERT_TRUE(browser.until("return window.said === 'begun\\n'", 60s));
    browser.open("about:blank");
    EXPECT_TRUE(cloud.until([&] { return cloud.instance("nb").at("/usedBy") == "jupyter"; }, 40s))
        << cloud.instance("nb").body;

    cloud.end("nb");
    const std::string again = started("nb-2", notebook);
    EXPECT_NE(again, url);
    sign_in(browser, again);
    ASSERT_TRUE(browser.shows(".jp-LabShell", 60s)) << browser.url();
    const auto kept = browser.run(
        "const ask = new XMLHttpRequest();"
        "ask.open('GET', '/api/contents/note.txt', false); ask.send();"
        "return JSON.parse(ask.responseText).content");
    EXPECT_EQ(kept, json::value("kept over a stop"));
    cloud.end("nb-2");
}

TEST_F(Templates, ANotebookMayAskForAPassword) {
    const std::string url =
        started("locked",
                {{"templateName", "jupyter"},
                 {"parameters", json::array{json::object{{"name", "password"}, {"value", "open sesame"}}}}});
    Browser browser{cloud.web, cloud.folder + "/browser"};
    sign_in(browser, url);
    ASSERT_TRUE(browser.type("input[type=password]", "open sesame")) << browser.url();
    ASSERT_TRUE(browser.click("#login_submit"));
    EXPECT_TRUE(browser.shows(".jp-LabShell", 60s)) << browser.url();
    cloud.end("locked");
}

}  // namespace
}  // namespace hostler::cloud
