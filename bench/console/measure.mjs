// Measures the built console in a browser: node measure.mjs OPTIONS, as JSON; its last line is what was measured, as JSON.
import { begin, Browser, follow, heading, heapOf, heldUp, longestTask, quiet, sleep } from "./browser.mjs";
import { Cloud } from "./cloud.mjs";
import { Server } from "./server.mjs";

const options = JSON.parse(process.argv[2]);
const kib = (bytes) => bytes / 1024;
const sum = (answers, part) => answers.reduce((total, one) => total + one[part], 0);
const most = (answers, part) => Math.max(0, ...answers.map((one) => one[part]));
const isFile = ({ path }) => path.startsWith("/console/");

async function firstLoad(browser, server) {
    const mark = server.mark;
    const page = await browser.page(server, "/home");
    await heading(page, "Home");
    await page.getByRole("link", { name: server.cloud.instances[0].instanceID, exact: true }).waitFor();
    const drawn = await page.evaluate(() => performance.now());
    await quiet(server);
    const answers = server.since(mark);
    const longestMs = await longestTask(page);
    return { page, figures: { wireKiB: kib(sum(answers, "wire")), filesKiB: kib(sum(answers.filter(isFile), "wire")), requests: answers.length, drawnMs: drawn, longestMs, heapMiB: await heapOf(page) } };
}

// Files that each step loads after the home page, in this order.
async function parts(page, server) {
    const { id } = server.cloud.instances[0];
    const tab = (name) => page.getByRole("tab", { name, exact: true }).click();
    const steps = {
        list: async () => { await follow(page, "/instances"); await page.locator("table.list").waitFor(); },
        instance: async () => { await follow(page, `/instances/${id}`); await page.getByRole("tab", { name: "Metrics" }).waitFor(); },
        chart: async () => { await tab("Metrics"); await page.locator("canvas").first().waitFor(); },
        terminal: async () => { await tab("Terminal"); await page.locator(".xterm").first().waitFor(); },
        start: async () => { await follow(page, "/start"); await heading(page, "Start an instance"); },
    };
    const figures = {};
    for (const [name, step] of Object.entries(steps)) {
        const mark = server.mark;
        await step();
        await quiet(server);
        figures[name] = kib(sum(server.since(mark).filter(isFile), "wire"));
    }
    return figures;
}

// Scrolls as a reader who draws the bar down; true at the end of all rows.
function scrolled(all) {
    window.scrollBy(0, 4 * window.innerHeight);
    const table = document.querySelector("table.list");
    const last = document.querySelector(`tr[data-index="${all - 1}"]`);
    return table?.getAttribute("aria-rowcount") === String(all) && last !== null;
}

async function list(browser, server) {
    const all = server.cloud.instances.length;
    const page = await browser.page(server, "/home");
    await heading(page, "Home");
    await quiet(server);
    const mark = server.mark;
    await begin(page);
    await follow(page, "/instances");
    await page.locator("table.list").waitFor();
    const begun = Date.now();
    while (!(await page.evaluate(scrolled, all))) await page.evaluate(() => new Promise(requestAnimationFrame));
    const endMs = Date.now() - begun;
    const pages = server.since(mark).filter(({ path }) => path === "/v1/instances");
    const { rows } = await page.evaluate(() => window.benchSeen);
    return { page, figures: { rows, requests: pages.length, wireKiB: kib(most(pages, "wire")), rawKiB: kib(most(pages, "raw")), longest: await heldUp(page), endMs, heapMiB: await heapOf(page) } };
}

// All zones are there, and each of their canvases was put whole.
function allDrawn(zones) {
    const canvases = [...document.querySelectorAll(".fleet-zone canvas")];
    const pixels = canvases.reduce((sum, { width, height }) => sum + width * height, 0);
    return canvases.length === zones && window.benchSeen.pixels >= pixels;
}

async function fleet(browser, server) {
    const zones = server.cloud.zoneList().items.length;
    const page = await browser.page(server, "/home");
    await heading(page, "Home");
    await quiet(server);
    const mark = server.mark;
    await begin(page);
    await follow(page, "/fleet");
    await page.waitForFunction(allDrawn, zones, { polling: 100 });
    await sleep(300);
    const whole = await page.evaluate(() => window.benchSeen);
    const longest = await heldUp(page);
    const [answer] = server.since(mark).filter(({ path }) => path === "/v1/fleet");
    const kitKiB = kib(sum(server.since(mark).filter(isFile), "wire"));
    await begin(page);
    const before = server.mark;
    server.cloud.changeHosts(100);
    await page.waitForFunction(() => window.benchSeen.cells > 0, undefined, { polling: 100 });
    await sleep(300);
    const again = await page.evaluate(() => {
        const fleets = performance.getEntriesByType("resource").filter(({ name }) => name.includes("/v1/fleet?"));
        return { ...window.benchSeen, arrived: fleets.at(-1).responseEnd };
    });
    const againLongest = await heldUp(page);
    const [changes] = server.since(before).filter(({ path }) => path === "/v1/fleet");
    return {
        page,
        figures: {
            rawKiB: kib(answer.raw), wireKiB: kib(answer.wire), kitKiB, drawnMs: whole.drawnAt - whole.begun, longest, heapMiB: await heapOf(page),
            againRawKiB: kib(changes.raw), againCells: again.cells, againMs: again.drawnAt - again.arrived, againLongest,
        },
    };
}

// So many changes a second, of instances, hosts and GPUs; the page is left alone.
async function watch(page, server, seconds) {
    await quiet(server);
    const { cloud } = server;
    const heap = await heapOf(page);
    const mark = server.mark;
    await begin(page);
    const begun = Date.now();
    for (let told = 0; Date.now() - begun < seconds * 1000; await sleep(10))
        for (; told < ((Date.now() - begun) / 1000) * options.rate; told += 1) {
            const it = cloud.instances[told % cloud.instances.length];
            if (told % 3) server.tell({ kind: "instance", id: it.id, name: it.instanceID, tenantID: it.tenantID, project: it.project, change: "changed" });
            else server.tell({ kind: told % 2 ? "host" : "gpu", id: cloud.hostIds[told % cloud.hostIds.length], change: "changed" });
        }
    const answers = server.since(mark);
    const longest = await heldUp(page);
    await quiet(server);
    return { requestsPerSecond: answers.length / seconds, wireKiBPerSecond: kib(sum(answers, "wire")) / seconds, longest, heapGrowthMiB: (await heapOf(page)) - heap };
}

async function measure(browser, server) {
    const figures = {};
    const close = (page) => page.context().close();
    const home = await firstLoad(browser, server);
    figures.first = home.figures;
    figures.parts = await parts(home.page, server);
    await close(home.page);
    const map = await fleet(browser, server);
    figures.fleet = map.figures;
    await close(map.page);
    const idle = await browser.page(server, "/home");
    await heading(idle, "Home");
    figures.watchHome = await watch(idle, server, options.seconds);
    await close(idle);
    const long = await list(browser, server);
    figures.list = long.figures;
    figures.watchList = await watch(long.page, server, options.seconds);
    await close(long.page);
    return figures;
}

const server = new Server(new Cloud({ instances: options.instances, hosts: options.hosts, gpusPerHost: 8 }), options.dist);
await server.start();
const browser = await Browser.start(options.chromium);
try {
    console.log(JSON.stringify(await measure(browser, server)));
} finally {
    await browser.stop();
    server.stop();
}
