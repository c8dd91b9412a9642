// The people of a flow, and what goes wrong while they act.
import { Keyboard, Mouse } from "./hands.mjs";

// A browser of its own for each person: cookies are not shared.
export class Person {
    constructor(context, page, cloud, hands) {
        this.context = context;
        this.page = page;
        this.cloud = cloud;
        this.hands = hands;
        this.clicks = 0;
    }
    // A press that counts.
    async click(locator) {
        this.clicks += 1;
        await this.hands.click(locator);
    }
    fill(locator, text) {
        return this.hands.fill(locator, text);
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
    text(name) {
        return this.page.getByRole("textbox", { name: new RegExp(`^${name}`) });
    }
    async choose(name, option) {
        await this.click(this.page.getByRole("combobox", { name: new RegExp(`^${name}`) }));
        await this.click(this.page.getByRole("option", { name: option, exact: true }));
    }
    go(path) {
        return this.page.goto(`${this.cloud.apiUrl}/console${path}`);
    }
    // As a link of the page does: nothing is loaded again.
    async open(path) {
        await this.page.evaluate((to) => history.pushState(null, "", to), `/console${path}`);
        await this.settle();
    }
    // A page has one title; a placeholder stands, after a moment as grey lines, until it has what it shows.
    async settle() {
        await this.page.waitForTimeout(100);
        await this.page.waitForFunction(
            () => document.querySelector("h1") && !document.querySelector("[role=status][aria-label=Loading], .mantine-Skeleton-root"),
        );
    }
}

// None for the first request of a page that a link has just opened.
function frameOf(request) {
    try {
        return request.frame();
    } catch {
        return undefined;
    }
}

export class Stage {
    // `hands`: "mouse" or "keyboard".
    constructor(browser, cloud, hands) {
        this.browser = browser;
        this.cloud = cloud;
        this.hands = hands;
        this.wrong = [];
        // A network interface of the machine came or went, as each start of a container has it; the console loads again.
        this.expected = [(message) => message.text().includes("net::ERR_NETWORK_CHANGED")];
    }
    // What the browser's console says about a refusal that the flow means to see.
    expectRefusal(status, part) {
        this.expected.push((message) => message.text().includes(`${status}`) && message.location().url.includes(part));
    }
    // Of connections that the flow cuts.
    expectCuts() {
        this.expected.push((message) => message.text().includes("WebSocket connection"));
    }
    async person(options = {}) {
        const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
        context.setDefaultTimeout(60_000);
        const own = [new URL(this.cloud.apiUrl).origin];
        const ofGateway = (url) => url !== "" && new URL(url).port === new URL(this.cloud.gatewayUrl).port;
        context.on("request", (request) => {
            const { origin, protocol } = new URL(request.url());
            const frame = frameOf(request);
            const top = request.isNavigationRequest() && !frame?.parentFrame();
            if (!top && ofGateway(frame?.url() ?? "")) return; // A page of an instance, in another tab.
            if (["http:", "https:"].includes(protocol) && !own.includes(origin) && !top)
                this.wrong.push(`a request went to another origin: ${request.url()}`);
        });
        context.on("weberror", (error) => this.wrong.push(`an error of the page: ${error.error().stack}`));
        context.on("console", (message) => {
            if (message.type() !== "error" || this.isExpected(message)) return;
            this.wrong.push(`the console of the browser says: ${message.text()} (${message.location().url})`);
        });
        if (this.hands === "keyboard") await Keyboard.forbidTheMouse(context);
        const page = await context.newPage();
        return new Person(context, page, this.cloud, this.hands === "keyboard" ? new Keyboard(page) : new Mouse());
    }
    isExpected(message) {
        return this.expected.some((fits) => fits(message));
    }
}

export function check(so, what) {
    if (!so) throw new Error(what);
}
export function equal(is, wanted, what) {
    if (is !== wanted) throw new Error(`${what}: ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`);
}
