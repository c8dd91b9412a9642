// Runs a flow of people in a real Chromium against a real cloud: node flow.mjs NAME, with what a cloud test tells in
// the environment. It fails on an error in the browser's console, too, and on a request to another origin.
import { createRequire } from "node:module";
import { join } from "node:path";
import { Cloud } from "./cloud.mjs";

const root = new URL("../..", import.meta.url).pathname;
const { chromium } = createRequire(join(root, "console/package.json"))("playwright-core");

// A browser of its own for each person: cookies are not shared.
export class Person {
    constructor(context, page, cloud) {
        this.context = context;
        this.page = page;
        this.cloud = cloud;
        this.clicks = 0;
    }
    // A press that counts.
    async click(locator) {
        this.clicks += 1;
        await locator.click();
    }
    async clicksOf(deed) {
        const before = this.clicks;
        await deed();
        return this.clicks - before;
    }
    async signIn(key = this.cloud.key) {
        const { url } = await this.cloud.api("POST", "/v1/console-links", {}, key);
        await this.page.goto(url);
        await this.heading("Home");
    }
    async heading(name) {
        await this.page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    }
    link(name, within = this.page) {
        return within.getByRole("link", { name, exact: true });
    }
    button(name, within = this.page) {
        return within.getByRole("button", { name, exact: true });
    }
    go(path) {
        return this.page.goto(`${this.cloud.apiUrl}/console${path}`);
    }
}

export class Stage {
    constructor(browser, cloud) {
        this.browser = browser;
        this.cloud = cloud;
        this.wrong = [];
        this.expected = [];
    }
    // What the browser's console says about a refusal that the flow means to see.
    expectRefusal(status, part) {
        this.expected.push({ status, part });
    }
    async person(options = {}) {
        const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
        context.setDefaultTimeout(30_000);
        const own = [new URL(this.cloud.apiUrl).origin];
        context.on("request", (request) => {
            const { origin, protocol } = new URL(request.url());
            const top = request.isNavigationRequest() && request.frame().parentFrame() === null;
            if (["http:", "https:"].includes(protocol) && !own.includes(origin) && !top)
                this.wrong.push(`a request went to another origin: ${request.url()}`);
        });
        context.on("weberror", (error) => this.wrong.push(`an error of the page: ${error.error().stack}`));
        context.on("console", (message) => {
            if (message.type() !== "error" || this.isExpected(message)) return;
            this.wrong.push(`the console of the browser says: ${message.text()} (${message.location().url})`);
        });
        return new Person(context, await context.newPage(), this.cloud);
    }
    isExpected(message) {
        return this.expected.some(
            ({ status, part }) => message.text().includes(`${status}`) && message.location().url.includes(part),
        );
    }
}

export function check(so, what) {
    if (!so) throw new Error(what);
}
export function equal(is, wanted, what) {
    if (is !== wanted) throw new Error(`${what}: ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`);
}

async function run(name) {
    const { default: flow } = await import(`./flows/${name}.mjs`);
    const browser = await chromium.launch({
        executablePath: "/usr/bin/chromium",
        args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
    const stage = new Stage(browser, new Cloud());
    try {
        await flow(stage);
    } catch (error) {
        stage.wrong.unshift(error.stack);
        await keepPictures(browser, name);
    } finally {
        await browser.close();
    }
    for (const text of stage.wrong) console.log(text);
    process.exit(stage.wrong.length === 0 ? 0 : 1);
}

// Of what each page showed when the flow broke off.
async function keepPictures(browser, name) {
    for (const [index, page] of browser.contexts().flatMap((context) => context.pages()).entries()) {
        const path = `${process.env.HOSTLER_FOLDER}/${name}-${index}.png`;
        await page.screenshot({ path }).catch(() => undefined);
        const text = await page.locator("body").innerText({ timeout: 5_000 }).catch(() => "");
        console.log(`${page.url()} shows (${path}):\n${text.slice(0, 3_000)}`);
    }
}

if (process.argv[2]) await run(process.argv[2]);
