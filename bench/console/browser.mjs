// A headless Chromium that tells how long its page was held up, how many rows and cells it drew, and its heap.
import { createRequire } from "node:module";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;

export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// In the page, before its scripts: tasks above 50 ms, cells copied to canvases, pixels put there as whole pictures, and the
// most rows at any moment.
function probe() {
    const seen = { tasks: [], cells: 0, pixels: 0, drawnAt: 0, rows: 0 };
    window.benchSeen = seen;
    new PerformanceObserver((list) => {
        for (const { startTime, duration } of list.getEntries()) seen.tasks.push({ startTime, duration });
    }).observe({ type: "longtask", buffered: true });
    const copy = CanvasRenderingContext2D.prototype.drawImage;
    CanvasRenderingContext2D.prototype.drawImage = function (...words) {
        seen.cells += 1;
        seen.drawnAt = performance.now();
        return copy.apply(this, words);
    };
    const put = CanvasRenderingContext2D.prototype.putImageData;
    CanvasRenderingContext2D.prototype.putImageData = function (image, ...words) {
        seen.pixels += image.width * image.height;
        seen.drawnAt = performance.now();
        return put.call(this, image, ...words);
    };
    const count = () => {
        seen.rows = Math.max(seen.rows, document.querySelectorAll("table.list tbody tr:not(.spacer), ul.cards li").length);
    };
    new MutationObserver(count).observe(document, { childList: true, subtree: true });
}

// The page's counters from now on.
function resetProbe() {
    Object.assign(window.benchSeen, { tasks: [], cells: 0, pixels: 0, drawnAt: 0, rows: 0 });
    window.benchSeen.begun = performance.now();
}

export class Browser {
    static async start(program) {
        const { chromium } = createRequire(join(root, "console/package.json"))("playwright-core");
        const browser = new Browser();
        browser.chromium = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
        return browser;
    }

    stop() {
        return this.chromium.close();
    }

    // A page with an empty cache.
    async page(server, path) {
        const context = await this.chromium.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
        context.setDefaultTimeout(60_000);
        const page = await context.newPage();
        page.on("pageerror", (error) => {
            console.error(`the page failed: ${error.stack}`);
            process.exit(1);
        });
        await page.addInitScript(probe);
        await page.goto(`${server.url}/console${path}`);
        return page;
    }
}

// From now on the page's counters and the browser's tasks count.
export async function begin(page) {
    await page.evaluate(resetProbe);
    await page.context().browser().startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "__metadata"] });
}

// Follows a link of the page that has this address.
export const follow = (page, path) => page.locator(`a[href^="/console${path}"]`).first().click();

export const heading = (page, name) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();

// The longest task since begin(): in ms, and how many of them the page's thread ran. On a busy machine those differ.
export async function heldUp(page) {
    const wallMs = await longestTask(page);
    const trace = JSON.parse((await page.context().browser().stopTracing()).toString()).traceEvents;
    const threadOf = ({ pid, tid }) => `${pid}/${tid}`;
    const main = new Set(trace.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(threadOf));
    const tasks = trace.filter((event) => event.name === "RunTask" && main.has(threadOf(event)));
    return { wallMs, cpuMs: Math.max(0, ...tasks.map(({ tdur }) => (tdur ?? 0) / 1000)) };
}

export async function longestTask(page) {
    await sleep(100);  // The observer is told after the task.
    const { tasks } = await page.evaluate(() => window.benchSeen);
    return Math.max(0, ...tasks.map(({ duration }) => duration));
}

// MiB of the page's heap after a collection.
export async function heapOf(page) {
    const session = await page.context().newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    await session.detach();
    return usedSize / 2 ** 20;
}

// Until nothing was asked for half a second.
export async function quiet(server) {
    for (let mark = -1; mark !== server.mark; ) {
        mark = server.mark;
        await sleep(500);
    }
}
