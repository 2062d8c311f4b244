"use strict";
const lines = document.querySelectorAll(".line[data-origin]");
const byOrigin = new Map();
for (const line of lines) {
  const origin = line.dataset.origin;
  byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), line]);
}

function mark(origin, name, on) {
  for (const line of byOrigin.get(origin) ?? []) line.classList.toggle(name, on);
}

/** Scroll the other listings so that the first line of an origin is visible. */
function reveal(origin, here) {
  const seen = new Set([here]);
  for (const line of byOrigin.get(origin)) {
    const listing = line.closest(".listing");
    if (seen.has(listing) || listing.hidden) continue;
    seen.add(listing);
    const box = listing.getBoundingClientRect(), place = line.getBoundingClientRect();
    if (place.top < box.top || place.bottom > box.bottom) {
      listing.scrollTop += place.top - box.top - box.height / 3;
    }
  }
}

for (const line of lines) {
  const origin = line.dataset.origin;
  line.addEventListener("mouseenter", () => {
    mark(origin, "lit", true);
    reveal(origin, line.closest(".listing"));
  });
  line.addEventListener("mouseleave", () => mark(origin, "lit", false));
  line.addEventListener("click", () => mark(origin, "kept", !line.classList.contains("kept")));
}

for (const button of document.querySelectorAll(".tabs button")) {
  button.addEventListener("click", () => {
    const section = button.closest("section");
    for (const other of section.querySelectorAll(".tabs button")) {
      other.setAttribute("aria-selected", String(other === button));
    }
    for (const listing of section.querySelectorAll(".listing")) {
      listing.hidden = listing.dataset.name !== button.textContent;
    }
  });
}

/** Color the lines of Python by their share of a cost, and show the number. */
function color(metric) {
  const costs = [...document.querySelectorAll(".line[data-costs]")];
  const numbers = costs.map((line) => JSON.parse(line.dataset.costs)[metric] ?? 0);
  const greatest = Math.max(1, ...numbers);
  costs.forEach((line, k) => {
    const share = Math.round((numbers[k] / greatest) * 45);
    line.style.background = `color-mix(in srgb, var(--hot) ${share}%, transparent)`;
    line.querySelector(".count").textContent = numbers[k] || "";
  });
}

const metric = document.getElementById("metric");
metric.addEventListener("change", () => color(metric.value));
color(metric.value);
