// Every page: nothing that axe finds, no error, nothing wider than the screen. An operator sees each page in both
// themes, one of the others with fewer permissions in one. With HOSTLER_PICTURES, a folder, all see all that they may,
// and it keeps a picture of each, in both themes at both widths.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { areaOf, catalogueObjects, cloudObjects, endObjects, makeObjects, tabsOf, views } from "../objects.mjs";
import { pages } from "../routes.mjs";

const root = new URL("../../..", import.meta.url).pathname;
const axe = readFileSync(createRequire(`${root}/console/package.json`).resolve("axe-core/axe.min.js"), "utf8");
const pictures = process.env.HOSTLER_PICTURES;
const looks = pictures ? { light: [1440, 390], dark: [1440, 390] } : { light: [1440], dark: [390] };
// Whoever sees fewer pages goes first.
const themes = { member: "light", provider: "light", "tenant-admin": "dark" };
const widthsOf = (name, scheme) => (pictures || name === "operator" || scheme === "dark" ? looks[scheme] : [1100]);

// Of each page that the person may open; where it names something, of one that there is.
async function routesOf(person, ofTenant, ofCloud) {
    const objects = { ...ofTenant, ...ofCloud };
    const { scopes } = await person.cloud.api("GET", "/v1/whoami", undefined, person.key);
    const may = new Set(scopes.flatMap(({ permissions }) => permissions));
    const own = (await pages()).filter(({ permission }) => permission === undefined || may.has(permission));
    return own.flatMap((page) => {
        if (!page.path.includes(":")) return [page.path];
        const area = areaOf(page);
        if (area === "/reports") return views.map((view) => `/reports/${view}`);
        const one = objects[area];
        if (!one && person.name === "operator") throw new Error(`${page.path} names an object: objects.mjs has none for it`);
        if (!one) return [];
        const all = tabsOf(page).filter((tab) => tab !== "/terminal");
        const query = ofTenant[area] ? `?tenantID=${ofTenant["/tenants"]}` : "";
        return all.map((tab) => `${area}/${one}${tab}${query}`);
    });
}

async function findings(page) {
    if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    return violations.flatMap(({ id, help, nodes }) => nodes.slice(0, 3).map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`));
}

async function look(stage, { page, name: who }, route, scheme, width) {
    const name = `${route} (${who}, ${scheme}, ${width})`;
    const wrong = await findings(page);
    for (const text of wrong) stage.wrong.push(`${name}: axe: ${text}`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (overflow > 0) stage.wrong.push(`${name}: it is ${overflow} px wider than the screen`);
    const cut = await page.locator("th:visible").evaluateAll((heads) => heads.filter((head) => head.scrollWidth > head.clientWidth).map((head) => head.textContent));
    if (cut.length > 0) stage.wrong.push(`${name}: the table has no room for ${cut.join(", ")}`);
    const titles = await page.getByRole("heading", { level: 1 }).count();
    if (titles !== 1) stage.wrong.push(`${name}: ${titles} headings of level 1`);
    if (pictures) {
        const file = `${who}-${route.replace(/\W+/g, "_").replace(/^_|_$/g, "") || "root"}-${scheme}-${width}.png`;
        await page.screenshot({ path: `${pictures}/${file}` });
    }
}

// Their keys.
async function makePeople(cloud, tenantID) {
    const people = { operator: cloud.key };
    const grants = { "tenant-admin": { tenantID }, member: { tenantID }, provider: { provider: "farm" } };
    for (const [role, where] of Object.entries(grants)) {
        const login = where.tenantID ? `${role}@${tenantID}` : `${role}-of-${tenantID}`;
        await cloud.user(login, "a horse that is right", [{ role, ...where }]);
        people[role] = (await cloud.api("POST", "/v1/sign-in", { login, password: "a horse that is right" })).secret;
    }
    return people;
}

// `seen`: what others than the operator have seen.
async function lookAtAll(stage, [name, key], scheme, seen, ...objects) {
    const person = Object.assign(await stage.person({ colorScheme: scheme, reducedMotion: "reduce" }), { name, key });
    await person.signIn(key);
    const routes = (await routesOf(person, ...objects)).filter((route) => pictures || name === "operator" || !seen.has(route));
    if (name !== "operator") for (const route of routes) seen.add(route);
    if (name === "operator") routes.push("/start?image=", "/no-such-page");
    for (const width of widthsOf(name, scheme)) {
        await person.page.setViewportSize({ width, height: 900 });
        for (const route of routes) {
            await person.open(route);
            await look(stage, person, route, scheme, width);
        }
    }
    await person.context.close();
}

export default async function (stage) {
    const { cloud } = stage;
    stage.expectRefusal(404, "/v1/");
    // Charts of a page that was left may still be asked for.
    stage.expectRefusal(429, "/v1/series");
    const tenant = await cloud.tenant();
    const made = await makeObjects(cloud, tenant, "shown");
    stage.expectRefusal(403, "/gpu-instances"); // The tenant's policy allows no image that the form suggests.
    const catalogue = await catalogueObjects(cloud);
    const all = { ...catalogue, ...(await cloudObjects(cloud)) };
    const [operator, ...others] = Object.entries(await makePeople(cloud, tenant));
    const seen = new Set();
    const lookAtOthers = async (scheme) => {
        for (const person of others)
            if (pictures || themes[person[0]] === scheme) await lookAtAll(stage, person, scheme, seen, made, catalogue);
    };
    for (const scheme of Object.keys(looks)) await Promise.all([lookAtAll(stage, operator, scheme, seen, made, all), lookAtOthers(scheme)]);
    await endObjects(cloud, tenant, "shown", made);
}
