#include "core/page.h"

#include <fmt/format.h>

namespace hostler {

namespace {

constexpr std::string_view style = R"(
:root{color-scheme:light dark;--ground:#f6f7f9;--card:#fff;--ink:#15181d;--soft:#5b6472;--line:#e3e6eb;
--calm:#5b6472;--busy:#2563eb;--bad:#c2410c}
@media(prefers-color-scheme:dark){:root{--ground:#0f1115;--card:#171a20;--ink:#e9ecf1;--soft:#9aa3b2;
--line:#262b34;--calm:#9aa3b2;--busy:#6ea0ff;--bad:#f59e6b}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px;
background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;min-width:0;max-width:35rem;background:var(--card);border:1px solid var(--line);border-radius:14px;
padding:clamp(20px,6vw,36px);box-shadow:0 1px 2px rgb(0 0 0/.04),0 12px 32px rgb(0 0 0/.06)}
main.calm{--tone:var(--calm)}main.busy{--tone:var(--busy)}main.bad{--tone:var(--bad)}
.mark{width:12px;height:12px;border-radius:50%;background:var(--tone)}.busy .mark{
animation:beat 1.4s ease-in-out infinite}
@keyframes beat{50%{opacity:.25;transform:scale(.8)}}@media(prefers-reduced-motion:reduce){.busy .mark{
animation:none}}
h1{font-size:1.6rem;line-height:1.2;margin:18px 0 8px;letter-spacing:-.01em}p{margin:0 0 12px;
color:var(--soft)}
h2{font-size:1rem;margin:20px 0 6px}
code,pre,.about{font:14px/1.5 ui-monospace,SFMono-Regular,Menlo,monospace;color:var(--ink);overflow-wrap:anywhere}
pre{margin:0 0 12px;padding:12px 14px;border:1px solid var(--line);border-radius:9px;background:var(--ground);
overflow-x:auto;overflow-wrap:normal}
.detail{border-left:3px solid var(--tone);padding:2px 0 2px 14px;color:var(--ink);overflow-wrap:anywhere;
white-space:pre-line}
.alert{color:var(--bad);font-weight:600}
p a{color:var(--busy)}
a.go,button{display:inline-block;margin-top:8px;padding:9px 16px;border:0;border-radius:9px;background:var(--ink);
color:var(--card);text-decoration:none;font:inherit;font-weight:600;cursor:pointer}
button.second{background:transparent;color:var(--ink);box-shadow:inset 0 0 0 1px var(--soft)}
label{display:block;font-weight:600;margin:.75rem 0 .35rem}
input:is([type=password],[type=text]){width:100%;font:inherit;
padding:.6rem .7rem;border:1px solid var(--soft);border-radius:9px;background:transparent;color:inherit}
details{margin-top:20px}details p{margin-top:12px}summary{cursor:pointer;color:var(--busy)}
footer{margin-top:26px;padding-top:14px;border-top:1px solid var(--line);font-size:13px;
color:var(--soft)}
)";

}  // namespace

std::string html_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            case '\'': escaped += "&#39;"; break;
            default: escaped += c;
        }
    }
    return escaped;
}

std::string html_of(const HtmlPage& page) {
    return fmt::format(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><meta name=\"robots\" "
        "content=\"noindex\">{}<title>{} · Hostler</title><style{}>{}</style></head><body><main "
        "class=\"{}\"><div class=\"mark\"></div><h1>{}</h1>{}<footer>{}</footer></main></body></html>\n",
        page.again_s > 0 ? fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">", page.again_s) : "",
        html_text(page.title), page.nonce.empty() ? "" : fmt::format(" nonce=\"{}\"", page.nonce), style,
        page.tone, html_text(page.title), page.body, html_text(page.footer));
}

std::string front_door(const FrontDoor& door) {
    const std::string api = html_text(door.api);
    std::string body =
        fmt::format("<p>Hostler turns GPU machines into one cloud for many tenants. This is {}.</p>",
                    html_text(door.what));
    if (!api.empty())
        body += fmt::format(
            "<h2>Begin with the command line</h2><pre>export HOSTLER_API={0}\nexport HOSTLER_KEY=hk_…\n"
            "hostler offers\nhostler instance list\nhostler --help</pre>"
            "<h2>Or with any HTTP client</h2><pre>curl -H \"Authorization: Bearer $HOSTLER_KEY\" \\\n"
            "  {0}/v1/instances</pre><p><a href=\"{0}/openapi.json\">openapi.json</a> describes every "
            "call.</p>",
            api);
    body +=
        "<h2>A key</h2><p>An operator makes one with <code>hostler key create NAME --tenant TENANT</code> "
        "and "
        "gives it to you. It begins with <code>hk_</code>.</p>"
        "<h2>Documents</h2><p><code>hostler COMMAND --help</code> explains each command; README.md and the "
        "folder docs/ of Hostler explain the rest.</p>";
    return html_of({.title = "A GPU cloud", .body = body, .nonce = door.nonce});
}

}  // namespace hostler
