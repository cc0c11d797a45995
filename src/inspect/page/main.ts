import { h, render } from "preact";
import { InspectorApp } from "./app.ts";
import { handleKey } from "./handle-key.ts";
import { renderPage } from "./render-page.ts";
import { applyTheme } from "./theme.ts";

/** Starts the page: one application, rendered at most once per frame. */
function startPage(): void {
  const root = document.getElementById("app");
  if (!root) return;
  let isScheduled = false;
  const app = new InspectorApp(() => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      render(h(renderPage, { app, revision: ++revision }), root);
      if (app.isLoaded) performance.mark("loaded"); // for measurements
    });
  });
  let revision = 0;
  applyTheme();
  document.addEventListener("keydown", (event) => handleKey(event, app));
  void app.start();
}

startPage();
