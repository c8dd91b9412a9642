// Pages that tenants write, at another port of this host, try to act with the session of somebody who looks at them.
import { createServer } from "node:http";
import { check, equal } from "../stage.mjs";

// Served at another port: of the same site as the console, as the page of an instance is.
function serve(html) {
    return new Promise((ready) => {
        const server = createServer((_, answer) => {
            answer.setHeader("Content-Type", "text/html");
            answer.end(html);
        });
        server.listen(0, "127.0.0.1", () => ready(server));
    });
}

// Whether a page there can read an answer of the API, in each way that a page has.
async function tries(page, api) {
    return page.evaluate(async (to) => {
        const ways = {
            plain: { credentials: "include" },
            header: { credentials: "include", headers: { "X-Hostler-Console": "1" } },
            opaque: { credentials: "include", mode: "no-cors", headers: { "X-Hostler-Console": "1" } },
        };
        const read = {};
        for (const [name, options] of Object.entries(ways))
            read[name] = await fetch(`${to}/v1/whoami`, options).then((answer) => answer.status, () => "blocked");
        const acts = await fetch(`${to}/v1/tenants`, {
            method: "POST", credentials: "include", mode: "no-cors", body: "{\"name\":\"stolen\"}",
        }).then((answer) => answer.status, () => "blocked");
        return { ...read, acts };
    }, api);
}

export default async function (stage) {
    const { cloud } = stage;
    const operator = await stage.person();
    await operator.signIn();
    const server = await serve(`<iframe src="${cloud.apiUrl}/console/" title="framed"></iframe>`);
    const before = stage.wrong.length;
    try {
        const page = await operator.context.newPage();
        await page.goto(`http://127.0.0.1:${server.address().port}/`);
        const got = await tries(page, cloud.apiUrl);
        equal(got.plain, "blocked", "a read of another origin");
        equal(got.header, "blocked", "a read with our header: its preflight is refused");
        check(got.opaque === 0 || got.opaque === "blocked", `an opaque read tells nothing: ${got.opaque}`);
        const framed = page.frames().find((frame) => frame !== page.mainFrame());
        check(!(await framed?.content().catch(() => ""))?.includes("/console/assets/"), "the console is shown in a frame");
        await page.evaluate((action) => {
            const form = document.body.appendChild(document.createElement("form"));
            Object.assign(form, { method: "post", action });
            form.submit();
        }, `${cloud.apiUrl}/v1/sign-out`);
        await page.waitForURL(/sign-out/);
        await page.close();
        await operator.page.waitForTimeout(500);
        const tenants = (await cloud.api("GET", "/v1/tenants?limit=1000")).items.map(({ id }) => id);
        check(!tenants.includes("stolen"), "a page of another origin has made a tenant");
    } finally {
        server.close();
        stage.wrong.splice(before); // The browser says what it has blocked.
    }
    await operator.page.reload();
    await operator.heading("Home");
}
