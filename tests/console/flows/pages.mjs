// Every page in both themes and at two widths: nothing that axe finds, no error, nothing wider than the screen. With
// HOSTLER_PICTURES, a folder, it keeps a picture of each, in both themes at both widths.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const root = new URL("../../..", import.meta.url).pathname;
const axe = readFileSync(createRequire(`${root}/console/package.json`).resolve("axe-core/axe.min.js"), "utf8");
const pictures = process.env.HOSTLER_PICTURES;
const looks = pictures ? { light: [1440, 390], dark: [1440, 390] } : { light: [1440], dark: [390] };

// Routes of pages with a nav entry, as the page lists them; then one object of each kind that has a page.
async function routes(page, cloud) {
    const menu = await page.locator("nav a[href^='/console/']").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    const found = new Set(menu.map((href) => href.slice("/console".length)));
    const first = async (path, key = "id") => (await cloud.api("GET", path)).items[0]?.[key];
    const instance = (await cloud.api("GET", "/v1/instances")).items[0];
    if (instance)
        for (const tab of ["", "/logs", "/metrics", "/events"]) found.add(`/instances/${instance.id}${tab}?tenantID=${instance.tenantID}`);
    found.add(`/hosts/${await first("/v1/hosts")}`);
    found.add(`/gpus/${await first("/v1/gpus")}`);
    found.add(`/zones/${await first("/v1/zones", "name")}`);
    found.add(`/stock/${await first("/v1/stocks", "specName")}`);
    found.add("/invitations/new");
    found.add("/start?image=");
    found.add("/no-such-page");
    return [...found];
}

async function findings(page) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    return violations.flatMap(({ id, help, nodes }) => nodes.slice(0, 3).map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`));
}

// Placeholders come when a page has waited for a moment, and go when it has what it shows.
async function settle(page) {
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.waitForTimeout(300);
    await page.waitForFunction(() => !document.querySelector("[role=status][aria-label=Loading], .mantine-Skeleton-root"));
}

async function look(stage, page, route, scheme, width) {
    const name = `${route} (${scheme}, ${width})`;
    const wrong = await findings(page);
    for (const text of wrong) stage.wrong.push(`${name}: axe: ${text}`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (overflow > 0) stage.wrong.push(`${name}: it is ${overflow} px wider than the screen`);
    const titles = await page.getByRole("heading", { level: 1 }).count();
    if (titles !== 1) stage.wrong.push(`${name}: ${titles} headings of level 1`);
    if (pictures) {
        const file = `${route.replace(/\W+/g, "_").replace(/^_|_$/g, "") || "root"}-${scheme}-${width}.png`;
        await page.screenshot({ path: `${pictures}/${file}` });
    }
}

export default async function (stage) {
    const { cloud } = stage;
    stage.expectRefusal(404, "/v1/");
    // Charts of a page that was left may still be asked for.
    stage.expectRefusal(429, "/v1/series");
    for (const [scheme, widths] of Object.entries(looks)) {
        const operator = await stage.person({ colorScheme: scheme, reducedMotion: "reduce" });
        const { page } = operator;
        await operator.signIn();
        for (const route of await routes(page, cloud))
            for (const width of widths) {
                await page.setViewportSize({ width, height: 900 });
                await operator.go(route);
                await settle(page);
                await look(stage, page, route, scheme, width);
            }
        await operator.context.close();
    }
}
