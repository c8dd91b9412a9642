// A person comes without a session, signs in with a password, comes back, and signs out.
import { check, equal } from "../stage.mjs";

export default async function (stage) {
    const { cloud } = stage;
    const tenant = await cloud.tenant();
    await cloud.user(`sue@${tenant}`, "a horse that is right", [{ role: "member", tenantID: tenant }]);
    const sue = await stage.person();
    const { page } = sue;

    stage.expectRefusal(401, "/v1/");
    await sue.go("/instances?state=running");
    await sue.fill(page.locator("#login"), `sue@${tenant}`);
    await sue.fill(page.locator("#password"), "a horse that is wrong");
    stage.expectRefusal(403, "/sign-in");
    await sue.click(page.locator("#sign-in"));
    await page.getByRole("alert").waitFor();
    await sue.fill(page.locator("#password"), "a horse that is right");
    await sue.click(page.locator("#sign-in"));
    await sue.heading("Instances");
    check(page.url().endsWith("/console/instances?state=running"), `it leads to what was asked for: ${page.url()}`);

    const cookies = await sue.context.cookies();
    equal(cookies.length, 1, "cookies");
    check(cookies[0].httpOnly && cookies[0].sameSite === "Strict", "scripts cannot read the cookie");
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    check(!/h[a-z]_[A-Za-z0-9]{20}/.test(kept), `the page keeps no credential: ${kept}`);

    await page.reload();
    await sue.heading("Instances");
    await sue.click(sue.link("Home"));
    await sue.heading("Home");
    equal(await page.getByRole("link", { name: "Tenants", exact: true }).count(), 0, "what one may not do is absent");
    await sue.click(page.getByRole("button", { name: /account$/ }));
    await sue.click(page.getByRole("menuitem", { name: "Sign out" }));
    await page.locator("#login").waitFor();
    const { status } = await cloud.ask("GET", "/v1/whoami", undefined, cookies[0].value);
    equal(status, 401, "the session's end");
    await page.goBack();
    await page.locator("#login").waitFor();
}
