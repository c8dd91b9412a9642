// Ids of another tenant in every address that names something: a member and an admin see nothing of it.
import { areaOf, catalogueObjects, cloudObjects, endObjects, makeObjects, tabsOf, views } from "../objects.mjs";
import { pages } from "../routes.mjs";

// Addresses of a page, and whether a refusal is all that may be seen there.
function addressesOf(page, closed, open, tenant) {
    const area = areaOf(page);
    if (area === "/reports") return { refused: false, addresses: views.map((view) => `${area}/${view}?by=instance&where=tenant%3D${tenant}`) };
    if (open[area]) return { refused: false, addresses: [`${area}/${open[area]}`] };
    if (!closed[area]) throw new Error(`${page.path} names an object: objects.mjs has none for it`);
    const one = `${area}/${encodeURIComponent(closed[area])}`;
    const all = tabsOf(page).map((tab) => one + tab);
    return { refused: true, addresses: all.flatMap((address) => [address, `${address}?tenantID=${tenant}`]) };
}

// Answers of the API that the page got, until it is asked for them.
function listen(page) {
    const answers = [];
    page.on("response", (response) => new URL(response.url()).pathname.match(/^\/(v1|gpu-instances|stocks)\b/) && answers.push(response));
    return { taken: () => answers.splice(0) };
}

async function open(stage, person, heard, address, { refused, named, word }) {
    heard.taken();
    await person.open(address);
    const main = person.page.getByRole("main");
    if (refused) await main.locator("[role=alert], h2:text('You may not see this page')").first().waitFor();
    const body = await person.page.locator("body").innerText();
    if (body.includes(word)) stage.wrong.push(`${address} shows ${person.name} what is another tenant's:\n${await main.innerText()}`);
    for (const response of heard.taken()) {
        const asked = decodeURIComponent(response.url());
        const text = await response.text().catch(() => "");
        if (text.includes(word)) stage.wrong.push(`${address}: ${asked} answers ${person.name} with what is another tenant's: ${text.slice(0, 500)}`);
        if (refused && asked.includes(`/${named}`) && ![403, 404].includes(response.status()))
            stage.wrong.push(`${address}: ${asked} answers ${person.name} with ${response.status()}`);
    }
}

async function visit(stage, person, { closed, open: all, tenant, word }) {
    const heard = listen(person.page);
    for (const page of (await pages()).filter(({ path }) => path.includes(":"))) {
        const { refused, addresses } = addressesOf(page, closed, all, tenant);
        const named = closed[areaOf(page)];
        for (const address of addresses) await open(stage, person, heard, address, { refused, named, word });
    }
}

export default async function (stage) {
    const { cloud } = stage;
    const [own, tenant] = [await cloud.tenant(), await cloud.tenant()];
    const word = `zq${Math.random().toString(36).slice(2, 8)}`;
    const closed = { ...(await makeObjects(cloud, tenant, word)), ...(await cloudObjects(cloud)) };
    const all = await catalogueObjects(cloud);
    for (const status of [403, 404]) stage.expectRefusal(status, "/v1/");
    const people = ["member", "tenant-admin"].map(async (role) => {
        const login = `${role}@${own}`;
        await cloud.user(login, "a horse that is right", [{ role, tenantID: own }]);
        const { secret } = await cloud.api("POST", "/v1/sign-in", { login, password: "a horse that is right" });
        const person = Object.assign(await stage.person(), { name: role });
        await person.signIn(secret);
        await visit(stage, person, { closed, open: all, tenant, word });
    });
    await Promise.all(people);
    await endObjects(cloud, tenant, word, closed);
}
