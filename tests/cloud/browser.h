// A real browser without a screen, driven over the WebDriver protocol (W3C), one window.
#pragma once

#include "web.h"

namespace hostler::cloud {

class Browser {
public:
    // `folder` is its own: profile and log lie there. Throws when it does not start.
    Browser(Web& web, std::string folder);
    ~Browser();
    Browser(const Browser&) = delete;
    Browser& operator=(const Browser&) = delete;

    void open(const std::string& url);
    std::string url();
    // The first element that a CSS selector finds; all below wait for it, at most 30 s. false: it never came.
    bool shows(const std::string& selector, Duration within = 30s);
    bool type(const std::string& selector, const std::string& keys);  // A file's path for an upload.
    bool click(const std::string& selector);
    std::string text(const std::string& selector);
    // The answer of a function's body: "return document.title".
    boost::json::value run(const std::string& script);
    bool until(const std::string& condition, Duration within = 30s);  // "return …", until it is true.

private:
    // Leaves driver_ empty where another program holds the port.
    void start(const std::string& log, bool last);
    void end_driver();
    boost::json::value call(const std::string& method, const std::string& path,
                            const boost::json::value& body = boost::json::object{});
    std::string element(const std::string& selector);  // Its id; "" when there is none.
    bool wait(const std::function<bool()>& so, Duration within);

    Web& web_;
    std::string driver_, session_;
    pid_t process_ = 0;
};

}  // namespace hostler::cloud
