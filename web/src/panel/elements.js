// SPDX-License-Identifier: Apache-2.0
// Parts of the page made by scripts. Text enters as text only.

export const $ = (id) => document.getElementById(id);

export const element = (tag, name = "", text = "") => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== "") made.textContent = text;
  return made;
};

export const button = (text, title, action) => {
  const made = element("button", "", text);
  made.title = title;
  made.addEventListener("click", action);
  return made;
};

const ICONS = {
  play: "M8 5.5v13l11-6.5z",
  pause: "M7 5h3.6v14H7zM13.4 5H17v14h-3.6z",
  back: "M15.5 5.5v13L7 12zM5 5.5h2v13H5z",
  forward: "M8.5 5.5v13L17 12zM17 5.5h2v13h-2z",
  loop:
    "M17 4l4 3.5-4 3.5V8.6H8A3.4 3.4 0 0 0 4.6 12H3a5 5 0 0 1 5-5h9z" +
    "M7 20l-4-3.5L7 13v2.4h9A3.4 3.4 0 0 0 19.400 12H21a5 5 0 0 1-5 5H7z",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3v2.200a6.800 6.800 0 0 1 0 13.600V21a9 9 0 0 0 0-18z",
};
export const setIcon = (target, name) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  target.replaceChildren(svg);
};
