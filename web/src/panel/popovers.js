// SPDX-License-Identifier: Apache-2.0
// Panels that open from a button: one at a time.

export const createPopovers = (pairs) => {
  const set = (open) =>
    pairs.forEach(([button, panel]) => {
      panel.hidden = panel !== open;
      button.setAttribute("aria-expanded", String(panel === open));
    });
  const toggle = (panel) => set(panel.hidden ? panel : null);
  pairs.forEach(([button, panel]) => button.addEventListener("click", () => toggle(panel)));
  return {
    toggle,
    // true if there was one to be closed
    close: () => {
      const any = pairs.some(([, panel]) => !panel.hidden);
      set(null);
      return any;
    },
  };
};
