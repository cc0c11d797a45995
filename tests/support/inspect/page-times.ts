/** Expression: milliseconds from the navigation to the frame after the whole timeline was rendered. */
export const PAINT_TIME = `new Promise((resolve) => {
  const wait = () => performance.getEntriesByName("loaded").length > 0 && document.querySelector(".row")
    ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    : setTimeout(wait, 5);
  wait();
})`;

/**
 * Expression: focuses the search box, waits for the next input, and returns the milliseconds from that input to the frame
 * that shows its result.
 */
export const FILTER_TIME = `new Promise((resolve) => {
  const search = document.getElementById("search");
  search.focus();
  search.addEventListener("input", ({ timeStamp }) => {
    const before = document.querySelector(".count").textContent;
    const wait = () => document.querySelector(".count").textContent !== before
      ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - timeStamp)))
      : requestAnimationFrame(wait);
    wait();
  }, { once: true });
})`;
