// How a person of a flow works a page: with a mouse, or with the keyboard alone. The flow is the same.
const tabsMax = 200;
const rowsMax = 60;
const enabledMax = 60_000;

export class Mouse {
    click(locator) {
        return locator.click();
    }
    fill(locator, text) {
        return locator.fill(text);
    }
}

// Runs in each page of a person without a mouse: a pointer, and a value that no key has made, are errors.
function forbidTheMouse() {
    let pressed = false;
    addEventListener("pointerdown", () => console.error("a pointer was used"), true);
    addEventListener("keydown", () => (pressed = true), true);
    addEventListener("input", (event) => {
        if (event.isTrusted && !pressed) console.error("a value came without a key");
        pressed = false;
    }, true);
}

// Where the focus is, as seen from an element: "here", "before" it, "after" it.
function focusFrom(element) {
    const focusable = "a[href], button, input, select, textarea, summary, [tabindex]";
    const wanted = element.closest(focusable) ?? element;
    const now = document.activeElement ?? document.body;
    if (now === wanted) return "here";
    return wanted.compareDocumentPosition(now) & Node.DOCUMENT_POSITION_FOLLOWING ? "after" : "before";
}

// Why a person would not see that the focus is here; "": they see it.
function hiddenFocus() {
    const now = document.activeElement;
    if (!now.matches(":focus-visible")) return "the browser would not mark its focus";
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(now);
    const marked = (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none" || now.matches("input, textarea");
    if (!marked) return "its focus is not drawn";
    const { left, top, width, height } = now.getBoundingClientRect();
    const drawn = document.elementFromPoint(left + width / 2, top + height / 2);
    return drawn && (now.contains(drawn) || drawn.contains(now)) ? "" : "it is not on the screen, or something covers it";
}

const roleOf = (locator) => locator.evaluate((element) => element.getAttribute("role") ?? element.tagName.toLowerCase());
const keyOf = { radio: "Space", checkbox: "Space", switch: "Space", combobox: "ArrowDown" };

export class Keyboard {
    constructor(page) {
        this.page = page;
    }
    static forbidTheMouse(context) {
        return context.addInitScript(forbidTheMouse);
    }
    async press(key, times, so) {
        for (let pressed = 0; pressed < times; pressed += 1) {
            if (await so()) return true;
            await this.page.keyboard.press(key);
        }
        return so();
    }
    // Moves the focus by Tab; in a list of tabs or a menu, which is one stop of Tab, by arrows.
    async reach(locator) {
        await locator.waitFor();
        const role = await roleOf(locator);
        if (role === "menuitem") return this.arrow(locator, "ArrowDown");
        if (role === "tab") {
            await this.tabTo(locator.locator("xpath=ancestor::*[@role='tablist']").locator("[aria-selected=true]"));
            return this.arrow(locator, "ArrowRight");
        }
        return this.tabTo(locator);
    }
    async arrow(locator, key) {
        if (!(await this.press(key, rowsMax, async () => (await locator.evaluate(focusFrom)) === "here")))
            throw new Error(`${locator} is not reached by ${key}`);
    }
    async tabTo(locator) {
        for (let pressed = 0; pressed < tabsMax; pressed += 1) {
            const where = await locator.evaluate(focusFrom);
            if (where === "here") return this.checkSeen(locator);
            await this.page.keyboard.press(where === "after" ? "Shift+Tab" : "Tab");
        }
        throw new Error(`${locator} is not reached by Tab; the focus is on ${await this.focused()}`);
    }
    focused() {
        return this.page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200));
    }
    async checkSeen(locator) {
        const why = await this.page.evaluate(hiddenFocus);
        if (why) throw new Error(`${locator}: ${why}: ${await this.focused()}`);
    }
    async click(locator) {
        await locator.waitFor();
        for (const end = Date.now() + enabledMax; !(await locator.isEnabled()); await this.page.waitForTimeout(50))
            if (Date.now() > end) throw new Error(`${locator} is not enabled`);
        const role = await roleOf(locator);
        if (role === "option") return this.chooseOption(locator);
        await this.reach(locator);
        if (role === "combobox" && (await locator.getAttribute("aria-expanded")) === "true") return;
        await this.page.keyboard.press(keyOf[role] ?? "Enter");
    }
    // The focus stays in the field; arrows move a mark in its list.
    async chooseOption(locator) {
        const marked = () => locator.evaluate((element) => element.hasAttribute("data-combobox-selected"));
        if (!(await this.press("ArrowDown", rowsMax, marked))) throw new Error(`${locator} is not reached by arrows`);
        await this.page.keyboard.press("Enter");
    }
    async fill(locator, text) {
        await this.reach(locator);
        await this.page.keyboard.press("ControlOrMeta+a");
        await this.page.keyboard.press("Delete");
        await this.page.keyboard.type(text);
    }
}
