// Light or dark: the setting of the system, unless the switch overrides it.

const THEMES = ["auto", "light", "dark"];
const NAMES = { auto: "as the system", light: "light", dark: "dark" };
const MARKS = { auto: "◐", light: "☀", dark: "☾" };
const system = matchMedia("(prefers-color-scheme: dark)");
const followers = [];

let kept = "auto";
try {
  kept = localStorage.getItem("ammi-theme");
} catch {
  // a report opened where storage is not allowed
}

const chosen = () => (THEMES.includes(kept) ? kept : "auto");

export const isDark = () => (chosen() === "auto" ? system.matches : chosen() === "dark");

/** Call a function at each change between light and dark; return a function that ends it. */
export function onTheme(follower) {
  followers.push(follower);
  return () => followers.splice(followers.indexOf(follower), 1);
}

export function themeSwitch(button) {
  const apply = () => {
    const theme = chosen();
    document.documentElement.dataset.theme = theme;
    button.textContent = MARKS[theme];
    button.setAttribute("aria-label", `Colours: ${NAMES[theme]}. Change them`);
    button.title = `Colours: ${NAMES[theme]}`;
    for (const follower of followers) follower();
  };
  button.addEventListener("click", () => {
    const order = system.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"]; // each press changes something
    kept = order[(order.indexOf(chosen()) + 1) % order.length];
    try {
      localStorage.setItem("ammi-theme", kept);
    } catch {
      // it holds until the page is closed
    }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}
