"use strict";
// What if: changes that a reader tries. A worker (system.js) runs the engines, and the page of
// the changed cluster replaces this one.
(() => {
const {$, el, show} = page;
const before = $("data").textContent, R = JSON.parse(before);
const kinds = { // what can be tried: a description, and the existing names
  to: ["update to", (R.update?.releases || []).filter(r => r !== R.update.current)],
  accept: ["accept risk", (R.update?.risks || []).map(r => r.name)],
  drain: ["drain node", R.nodes?.name || []],
  subscribe: ["install operator", JSON.parse($("packages").textContent) || []],
};
let tried = []; // pairs of a kind and a name
let worker, busy = 0;

const begin = () => {
  worker = new Worker(URL.createObjectURL(new Blob([$("system").textContent], {type: "text/javascript"})));
  worker.onmessage = e => { clearInterval(busy); busy = 0; e.data.error ? say([{tone: "bad", text: e.data.error}]) : take(e.data); };
  worker.onerror = e => { clearInterval(busy); busy = 0; worker = null; say([{tone: "bad", text: "This browser cannot run the engines: " + e.message}]); };
  worker.postMessage({engine: $("engine").textContent, input: $("input").textContent, before});
};
const say = lines => $("answer").replaceChildren(...lines.map(l => el("p", "card " + l.tone, l.text)));
const take = answer => {
  const next = new DOMParser().parseFromString(answer.html, "text/html"), mine = $("whatif"), at = document.activeElement;
  next.getElementById("whatif").replaceWith(mine);
  $("data").textContent = next.getElementById("data").textContent;
  document.querySelector("nav").replaceChildren(...next.querySelector("nav").childNodes);
  $("main").replaceWith(next.getElementById("main"));
  show();
  if (at.isConnected) at.focus({preventScroll: true});
  say(!tried.length ? [] : answer.says?.length ? answer.says : [{tone: "note", text: "Nothing changes."}]);
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
  worker.postMessage({change: {to: names("to")[0], accept: names("accept"), drain: names("drain"), subscribe: names("subscribe")}});
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
$("try").addEventListener("submit", e => { e.preventDefault(); attempt($("kind").value, $("which").value.trim()); });
document.addEventListener("click", e => { const b = e.target.closest("[data-what]"); if (b) { $("close").click(); $("whatif").scrollIntoView(); attempt(b.dataset.what, b.dataset.name); } });
})();
