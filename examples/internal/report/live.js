"use strict";
// What if: changes that a reader tries. A worker (system.js) runs the engines, and the page of
// the changed cluster replaces this one.
(() => {
const {$, el, show} = page;
const before = $("data").textContent, R = JSON.parse(before);
const kinds = Object.fromEntries(JSON.parse($("changes").textContent).map(c => [c.id, [c.says, c.names]])); // what can be tried: a description, and the existing names
const plain = ["to", "accept", "drain", "subscribe"]; // the others are supposed
let tried = []; // pairs of a kind and a name
let worker, busy = 0;

const begin = () => {
  worker = new Worker(URL.createObjectURL(new Blob([$("system").textContent], {type: "text/javascript"})));
  worker.onmessage = e => {
    clearInterval(busy);
    if (e.data.first && !e.data.html) { $("answer").replaceChildren(new DOMParser().parseFromString(e.data.first, "text/html").body.firstChild, el("p", "dim", "Making the rest of the page …")); return; }
    busy = 0;
    e.data.error ? say([{tone: "bad", text: e.data.error}]) : take(e.data);
  };
  worker.onerror = e => { clearInterval(busy); busy = 0; worker = null; say([{tone: "bad", text: "This browser cannot run the engines: " + e.message}]); };
  worker.postMessage({engine: $("engine").textContent, input: $("input").textContent, before});
};
const say = lines => $("answer").replaceChildren(...lines.map(l => el("p", "card " + l.tone, l.text)));
const take = answer => {
  const next = new DOMParser().parseFromString(answer.html, "text/html"), mine = $("whatif"), at = document.activeElement;
  const compared = next.querySelector("#answer .compared");
  next.getElementById("whatif").replaceWith(mine);
  $("data").textContent = next.getElementById("data").textContent;
  document.querySelector("nav").replaceChildren(...next.querySelector("nav").childNodes);
  $("main").replaceWith(next.getElementById("main"));
  show();
  if (at.isConnected) at.focus({preventScroll: true});
  const lines = !tried.length ? [] : answer.says?.length ? answer.says : compared ? [] : [{tone: "note", text: "Nothing changes."}];
  const rest = lines.map(l => el("p", "card " + l.tone, l.text)), more = el("details", "", el("summary", "", "What else changes: " + lines.length));
  if (compared && rest.length > 3) { more.append(...rest); rest.splice(0, rest.length, more); }
  $("answer").replaceChildren(...(tried.length && compared ? [compared] : []), ...rest);
};
const ask = () => {
  $("tried").replaceChildren(...tried.map(([kind, name], i) => {
    const b = el("button", "", kinds[kind][0] + " " + name + " ×");
    b.type = "button"; b.title = "Undo"; b.addEventListener("click", () => { tried.splice(i, 1); ask(); });
    return el("li", "", b);
  }));
  if (busy) { clearInterval(busy); worker.terminate(); worker = null; }
  if (!worker) begin();
  const names = kind => tried.filter(t => t[0] === kind).map(t => t[1]), since = Date.now();
  worker.postMessage({change: {to: names("to")[0], accept: names("accept"), drain: names("drain"), subscribe: names("subscribe"), suppose: tried.filter(t => !plain.includes(t[0])).map(t => ({what: t[0], name: t[1]}))}});
  const wait = () => say([{tone: "note", text: "Working … " + Math.round((Date.now() - since) / 1000) + " s"}]);
  busy = setInterval(wait, 1000); wait();
};
const attempt = (kind, name) => {
  if (!name || tried.some(t => t[0] === kind && t[1] === name)) return;
  if (!kinds[kind][1].includes(name)) { say([{tone: "bad", text: name + ": not found in this report"}]); return; }
  tried = tried.filter(t => kind !== "to" || t[0] !== "to");
  tried.push([kind, name]);
  ask();
};

const offer = () => { $("which").value = ""; $("choices").replaceChildren(...kinds[$("kind").value][1].map(name => { const o = el("option"); o.value = name; return o; })); };
for (const kind in kinds) if (kinds[kind][1].length) { const o = el("option", "", kinds[kind][0]); o.value = kind; $("kind").append(o); }
if ($("kind").options.length) offer();
$("kind").addEventListener("change", offer);
new IntersectionObserver((seen, o) => { if (seen.some(e => e.isIntersecting)) { o.disconnect(); if (!worker) begin(); } }).observe($("try")); // the engines are compiled while the reader chooses
$("try").addEventListener("submit", e => { e.preventDefault(); attempt($("kind").value, $("which").value.trim()); });
document.addEventListener("click", e => { const b = e.target.closest("[data-what]"); if (b) { $("close").click(); $("whatif").scrollIntoView(); attempt(b.dataset.what, b.dataset.name); } });
})();
