/** The choice of colors. */
export type Theme = "system" | "light" | "dark";

const KEY = "wink-inspect-theme";

/** Returns the reader's choice. */
export function readTheme(): Theme {
  try {
    const stored = window.localStorage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    return "system"; // the browser blocks site data
  }
}

/** Applies the reader's choice to the page. */
export function applyTheme(theme: Theme = readTheme()): void {
  try {
    window.localStorage.setItem(KEY, theme);
  } catch {
    // the choice holds until the page is closed
  }
  document.documentElement.dataset["theme"] = theme;
}

/** Changes from light to dark, or back. */
export function toggleTheme(): void {
  const isDark =
    getComputedStyle(document.documentElement).getPropertyValue("--is-dark").trim() === "1";
  applyTheme(isDark ? "light" : "dark");
}
