"use strict";
const page = (() => {
const $ = id => document.getElementById(id);
// Marks that turn text around, or hide, are shown for what they are.
const vis = s => String(s ?? "").replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, c => c === "\n" ? " " : "⟨U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
const el = (tag, cls, ...kids) => { const e = document.createElement(tag); if (cls) e.className = cls; for (const k of kids) e.append(k instanceof Node ? k : vis(k)); return e; };
// Theme: that of the system, until the reader switches.
const dark = matchMedia("(prefers-color-scheme: dark)");
let chosen = "";
const theme = () => document.documentElement.dataset.theme = chosen || (dark.matches ? "dark" : "light");
dark.addEventListener("change", theme); theme();
const swap = () => { chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark"; theme(); };

// show sets up the page: once, and again when its content was replaced.
let stop;
const show = () => {
stop?.abort(); stop = new AbortController();
const on = (target, event, f) => target.addEventListener(event, f, {signal: stop.signal});
const R = JSON.parse($("data").textContent);
// Work that can wait is done some milliseconds at a time, so that a page of thousands of marks
// stays quick. slowly does f for 0 to n-1, and where that has much laid out again, at most so
// many from one frame to the next; it ends where it is begun again under the same name.
const jobs = new Map(), {signal} = stop;
let awake = false;
const toil = () => {
  const until = performance.now() + 10;
  let wait = false;
  for (const [name, job] of jobs) {
    const end = Math.min(job.n, job.i + job.most);
    while (job.i < end) { job.f(job.i++); if (job.i % 16 === 0 && performance.now() > until) break; }
    wait = job.most < job.n && !document.hidden;
    if (job.i < job.n) break;
    if (jobs.get(name) === job) jobs.delete(name);
    if (wait || performance.now() > until) break;
  }
  awake = jobs.size > 0 && !signal.aborted;
  if (awake) wait ? requestAnimationFrame(() => setTimeout(toil)) : setTimeout(toil);
};
const slowly = (name, n, f, most = Infinity) => { jobs.delete(name); jobs.set(name, {i: 0, n, f, most}); if (!awake) { awake = true; setTimeout(toil); } };
const later = f => slowly(f, 1, f);
const num = n => n.toLocaleString("en-US");
const many = (n, one, more) => num(n) + " " + (n === 1 ? one : more);
const span = ns => { const m = Math.round(ns / 6e10), h = Math.floor(m / 60); return h ? h + "h" + (m % 60 ? String(m % 60).padStart(2, "0") + "m" : "") : m > 0 ? m + "m" : "under 1m"; };
const rows = b => b ? b.name.map((_, i) => Object.assign(Object.fromEntries(Object.entries(b).map(([k, v]) => [k, v[i]])), {says: b.texts[b.says[i]]})) : []; // of a list of each field
const N = R.nodes, W = R.workloads, U = R.update, B = rows(R.budgets), M = R.machines?.list || [], P = R.pools || [], T = R.taints || [];
const says = b => b.says || "allows " + many(b.allowed, "eviction", "evictions") + " at a time";
const collator = new Intl.Collator("en", {numeric: true});

// The contents of a node's list of pods, see Nodes.Pods.
const podsOf = i => { let w = 0; return !N.pods || !N.pods[i] ? [] : N.pods[i].split(" ").map(x => { const [d, c] = x.split(":"); w += +d; return [w, c ? +c : 1]; }); };
const work = w => (W.namespaces[W.namespace[w]] ? W.namespaces[W.namespace[w]] + "/" : "") + W.name[w];
const state = i => N.states[N.state[i]];
const when = at => at.replace("T", " ").replace("Z", " UTC");
const tone = s => ({updated: 0, ready: 0, updating: 1, draining: 1, pending: 2, paused: 2, cordoned: 2, degraded: 3, down: 4})[s] ?? 5;

// Why: the description of a mark, as a title and pairs.
const go = (k, text) => { const b = el("button", "go", text); b.type = "button"; b.dataset.k = k; return b; };
const test = (kind, name, text) => { if (!$("whatif")) return ""; const b = el("button", "go", text); b.type = "button"; b.dataset.what = kind; b.dataset.name = name; return b; }; // see live.js
const cmd = text => el("code", "cmd", text);
const list = (items, most = 60, all = items.length) => { const u = el("ul"), some = items.slice(0, most); some.forEach(x => u.append(el("li", "", x))); if (all > some.length) u.append(el("li", "dim", "and " + num(all - some.length) + " more")); return u; };
const tellers = {
  step(i) { const s = R.plan.steps[i]; return ["Step " + (i + 1) + ": " + $("step-" + i).firstChild.firstChild.textContent.trim(), [["Why", s.why], ["Owner", s.owner], ["Command", cmd(s.command)], ["Start when", s.before], ["Done when", s.after], ["Rollback", s.back], ["Estimate", span(s.takes) + " (" + s.basis + ")"], ["Restarts", s.restarts && many(s.restarts, "node", "nodes")], ...(s.unseen || []).map(u => ["Unknown", el("div", "", u.what, cmd(u.command))])]]; },
  rel(i) {
    const here = U.releases.indexOf(U.current), names = {here: "runs now", plan: "on the path of the plan", goal: "the goal of the plan", offered: "available now, without a risk that applies", risky: "available now, with a risk", later: "reachable through another release"};
    const direct = U.moves.find(m => m[0] === here && m[1] === i), risk = k => { const r = U.risks[k]; return el("div", "", el("b", "", r.name), " " + ({True: "applies", False: "does not apply"}[r.applies] || "unknown whether it applies") + ": ", r.message || "", r.query ? cmd(r.query) : ""); };
    const rel = (f, t) => U.moves.filter(m => m[f] === i).map(m => go("rel:" + m[t], U.releases[m[t]] + (m.slice(2).some(k => U.risks[k].applies !== "False") ? ", with a risk" : "")));
    return [U.releases[i], [["State", names[U.state[i]]], ["Direct update", i === here ? "" : direct ? "yes" : "no"], ...(direct ? direct.slice(2).map(k => ["Risk", risk(k)]) : []), ["Updates to", list(rel(0, 1))], ["Updates from", list(rel(1, 0))], ["What if", i === here ? "" : test("to", U.releases[i], "update to this release")]]];
  },
  risk(k) { const r = U.risks[k]; return ["Risk " + r.name, [["Applies", {True: "yes", False: "no"}[r.applies] || "unknown"], ["Description", r.message], ["Query", r.query && cmd(r.query)], ["What if", test("accept", r.name, "accept this risk")]]]; },
  op(i, k) {
    const o = R.operators[i], hop = (f, t) => o.hops.filter(h => h[f] === k).map(h => go("op:" + i + ":" + h[t], o.versions[h[t]]));
    return [o.versions[k], [["Operator", o.package + (o.namespace ? " in " + o.namespace : "")], ["Channel", o.channel], ["State", o.versions[k] === o.installed ? "installed" : o.path?.at(-1) === k ? "the goal of the plan" : o.path?.includes(k) ? "on the path of the plan" : "in the channel"], ["Supports", o.versions[k] === o.installed && o.maxOpenShift && "OpenShift up to " + o.maxOpenShift], ["Updates to", list(hop(0, 1))], ["Updates from", list(hop(1, 0))]]];
  },
  node(i) {
    const t = N.taints[i], pods = podsOf(i), drain = N.stuck && N.stucks[N.stuck[i]], gone = M.findIndex(m => m.node === N.name[i]);
    return ["Node " + N.name[i], [["Pool", P[N.pool[i]].name || "none"], ["State", state(i)], ["Version", N.versions[N.version[i]]], ["Machine", gone >= 0 && go("machine:" + gone, M[gone].name + ", being deleted")], ["Message", N.messages[N.message[i]]],
      ["Drain", !N.stuck ? "" : drain ? "does not complete: " + drain : N.rounds[i] ? "completes after " + many(N.rounds[i], "round", "rounds") + " of evictions" : "nothing to evict"],
      ["Taints", t < 0 ? "none" : go("taint:" + t, T[t].taints.join(", "))], ["Pods", N.pods && num(pods.reduce((s, p) => s + p[1], 0))],
      ["Workloads", list(pods.map(([w, c]) => el("span", "", c > 1 ? c + "× " : "", go("work:" + w, work(w)), " " + W.kinds[W.kind[w]])), 200)], ["What if", test("drain", N.name[i], "drain this node")]]];
  },
  machine(i) {
    const m = M[i], node = N ? N.name.indexOf(m.node) : -1;
    return ["Machine " + m.name, [["Node", node < 0 ? m.node : go("node:" + node, m.node)], ["Deleting since", when(m.deleting)], ["Cause", list(m.causes || [])], ["Stage", m.stage],
      ...(m.waits || []).map(w => ["Blocked by", el("div", "", el("div", "", w.text), w.also ? el("div", "dim", "also " + w.also.join(", ")) : "", w.owner ? el("div", "", el("b", "", "Owner: "), w.owner) : "", w.since ? el("div", "", el("b", "", "Since: "), when(w.since)) : "", el("div", "", el("b", "", "What to do: "), w.unblock))]),
      ["Also", m.more && many(m.more, "more blocker", "more blockers")], ["Next", list(m.next || [])], ["Unknown", list(m.unknown || [])]]];
  },
  work(w) {
    const on = [], waiting = W.waiting?.[w], elsewhere = W.elsewhere?.[w];
    if (N && N.pods) N.name.forEach((name, i) => { const p = podsOf(i).find(p => p[0] === w); if (p) { on.push(el("span", "", p[1] > 1 ? p[1] + "× " : "", go("node:" + i, name))); } });
    return [work(w), [["Kind", W.kinds[W.kind[w]]], ["Pods", num(W.pods[w]) + ", " + num(W.ready[w]) + " ready"], ["Unscheduled", waiting > 0 && many(waiting, "pod waits for a node", "pods wait for a node")], ["Unknown nodes", elsewhere > 0 && many(elsewhere, "pod is on a node that is not in the dump", "pods are on nodes that are not in the dump")], ["Budget", W.budget[w] >= 0 ? go("budget:" + W.budget[w], B[W.budget[w]].name) : "none"], ["Nodes", list(on, 200)]]];
  },
  budget(i) { const b = B[i]; return ["Budget " + b.namespace + "/" + b.name, [["Effect", says(b)], ["Healthy", num(b.healthy) + " of " + many(b.expected, "pod", "pods") + "; " + num(b.desired) + " required"], ["Allowed", many(b.allowed, "disruption", "disruptions") + (b.computed ? " (computed from the pods)" : "")], ["Drains", num(b.evicted || 0) + " of " + many(b.pods, "pod", "pods") + " evicted in " + many(b.rounds || 0, "round", "rounds")], ["Unmanaged", b.unmanaged > 0 && many(b.unmanaged, "pod has no controller that replaces it", "pods have no controller that replaces them")], ["Workloads", W ? list(W.budget.flatMap((x, w) => x === i ? [go("work:" + w, work(w))] : [])) : ""]]]; },
  taint(i) { const t = T[i]; return [many(t.nodes, "node", "nodes") + " with these taints", [["Taints", list(t.taints)], ["Not tolerated by", many(t.kept, "workload", "workloads")], ["Pods", t.runs ? many(t.runs, "pod runs", "pods run") + " there without toleration: they are evicted, or cannot be scheduled there again" : "all pods there tolerate them"], ["Nodes", N ? list(N.taints.flatMap((x, n) => x === i ? [go("node:" + n, N.name[n])] : [])) : ""]]]; },
};
tellers.wait = id => {
  const G = R.diagnosis.waits, n = G.nodes.find(n => n.id === id), rel = (f, t) => G.edges.filter(e => e[f] === id).map(e => go("wait:" + e[t], G.nodes.find(n => n.id === e[t]).says));
  return [n.says, [["Kind", n.kind], ["Namespace", n.namespace], ["Name", n.name], ["Since", n.since && when(n.since)], ["Known", {seen: "an object says so", derived: "computed from objects", assumed: "usual; nothing shows it"}[n.sure]], ["Owner", n.owner], ["Waits for", list(rel("from", "to"))], ["Waited for by", list(rel("to", "from"))], ["Like it", R.diagnosis.likes?.[id] && list(R.diagnosis.like[id], 20, R.diagnosis.likes[id])], ["It says", n.quote]]];
};
let from = null;
const why = k => {
  const [kind, ...at] = k.split(":");
  if (kind === "state") { only = ""; choose(at[0]); $("nodelist").scrollIntoView({block: "center"}); return; }
  if (!tellers[kind]) return;
  const [head, pairs] = kind === "wait" ? tellers.wait(at.join(":")) : tellers[kind](...at.map(Number)), d = el("dl");
  for (const [label, value] of pairs) {
    if (!value && value !== 0 || value instanceof Node && value.tagName === "UL" && !value.childElementCount) continue;
    d.append(el("dt", "", label), el("dd", "", value));
  }
  if ($("why").hidden) from = document.activeElement;
  $("whytext").replaceChildren(el("h2", "", head), d);
  $("why").hidden = false; $("why").scrollTop = 0; $("whytext").focus({preventScroll: true});
};
const close = () => { if ($("why").hidden) return false; $("why").hidden = true; if (from && from.isConnected) from.focus({preventScroll: true}); return true; };
on(document, "click", e => { const k = e.target.closest("[data-k]"); if (k) why(k.dataset.k); });

// Lists of many rows: only visible rows are in the page.
const lists = [];
const makeList = (box, label, columns, count, key, text) => {
  if (!box) return;
  const high = 30, grid = columns.map(c => c.wide || "1fr").join(" ");
  const head = el("div", "lhead"), body = el("div", "lbody"), room = el("div");
  body.tabIndex = 0; body.setAttribute("role", "listbox"); body.setAttribute("aria-label", label);
  head.style.gridTemplateColumns = grid; room.style.position = "relative"; body.append(room);
  let rows = [...Array(count).keys()], at = -1, sorted = -1, up = true;
  const self = {
    filter(words, keep) {
      rows = []; for (let i = 0; i < count; i++) if ((!keep || keep(i)) && words.every(w => text(i).includes(w))) rows.push(i);
      if (sorted >= 0) order(); at = -1; body.scrollTop = 0; self.draw(0); self.found = words.length ? rows.length : 0; return rows.length;
    },
    draw(top = body.scrollTop) { // reading scrollTop lays out the whole page
      room.style.height = Math.max(rows.length, 1) * high + "px";
      const first = Math.max(0, Math.floor(top / high) - 5), end = Math.min(rows.length, first + 30), part = [];
      for (let r = first; r < end; r++) {
        const e = el("div", "lrow" + (r === at ? " on" : ""));
        e.id = box.id + "-" + r; e.style.top = r * high + "px"; e.style.gridTemplateColumns = grid; e.dataset.k = key + ":" + rows[r];
        e.setAttribute("role", "option"); e.setAttribute("aria-selected", r === at); e.setAttribute("aria-setsize", rows.length); e.setAttribute("aria-posinset", r + 1);
        for (const c of columns) { const v = c.of(rows[r]); const s = el("span", (c.num ? "num " : "") + (c.cls ? c.cls(rows[r]) : ""), typeof v === "number" ? num(v) : v); s.title = vis(v); e.append(s); }
        part.push(e);
      }
      if (!rows.length) part.push(el("div", "empty", "none"));
      room.replaceChildren(...part);
    },
  };
  const order = () => { const c = columns[sorted]; rows.sort((a, b) => { const x = c.of(a), y = c.of(b), o = typeof x === "number" ? x - y : collator.compare(x, y); return (up ? o : -o) || a - b; }); };
  columns.forEach((c, i) => { const b = el("button", "", c.name); b.type = "button"; b.title = "Sort by " + c.name; b.addEventListener("click", () => { up = sorted === i ? !up : !c.num; sorted = i; order(); self.draw(); }); head.append(el("span", c.num ? "num" : "", b)); });
  let due = false;
  body.addEventListener("scroll", () => { if (!due) { due = true; requestAnimationFrame(() => { due = false; self.draw(); }); } }, {passive: true});
  body.addEventListener("keydown", e => {
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9}[e.key];
    if (step) { at = Math.max(0, Math.min(rows.length - 1, at + step)); body.scrollTop = Math.min(Math.max(body.scrollTop, (at + 1) * high - body.clientHeight), at * high); self.draw(); body.setAttribute("aria-activedescendant", box.id + "-" + at); e.preventDefault(); }
    else if (e.key === "Enter" && at >= 0) { why(key + ":" + rows[at]); e.preventDefault(); }
  });
  box.append(head, body); body.style.height = Math.min(count, 13) * high + 2 + "px"; self.draw(0); lists.push(self); self.box = box; return self;
};
const texts = new Map();
const cache = (kind, i, f) => { const k = kind + i; let t = texts.get(k); if (t === undefined) texts.set(k, t = f().toLowerCase()); return t; };
const nodeText = i => cache("n", i, () => [N.name[i], P[N.pool[i]].name, state(i), N.versions[N.version[i]], N.messages[N.message[i]], N.stuck ? N.stucks[N.stuck[i]] : "", N.taints[i] < 0 ? "" : T[N.taints[i]].taints.join(" ")].join(" "));
const workText = w => cache("w", w, () => work(w) + " " + W.kinds[W.kind[w]]);
const budgetText = i => cache("b", i, () => B[i].namespace + "/" + B[i].name + " " + says(B[i]));
let nodeList, workList, budgetList;
if (N) later(() => nodeList = makeList($("nodelist"), "All nodes", [
  {name: "node", wide: "minmax(9rem,2fr)", of: i => N.name[i]}, {name: "pool", of: i => P[N.pool[i]].name}, {name: "state", of: i => state(i), cls: i => ["degraded", "down"].includes(state(i)) ? "s-bad" : ""}, {name: "version", of: i => N.versions[N.version[i]]},
  ...(N.pods ? [{name: "pods", num: true, wide: "4rem", of: i => podsOf(i).reduce((s, p) => s + p[1], 0)}, {name: "drain", wide: "minmax(6rem,2fr)", of: i => N.stucks[N.stuck[i]] || (N.rounds[i] ? many(N.rounds[i], "round", "rounds") : "nothing to evict"), cls: i => N.stuck[i] ? "s-warning" : ""}] : []),
], N.name.length, "node", nodeText));
if (W) later(() => workList = makeList($("worklist"), "Workloads", [
  {name: "namespace", of: w => W.namespaces[W.namespace[w]]}, {name: "workload", wide: "minmax(9rem,2fr)", of: w => W.name[w]}, {name: "kind", of: w => W.kinds[W.kind[w]]}, {name: "pods", num: true, wide: "5rem", of: w => W.pods[w]}, {name: "ready", num: true, wide: "5rem", of: w => W.ready[w], cls: w => W.ready[w] < W.pods[w] ? "s-warning" : ""}, {name: "budget", of: w => W.budget[w] < 0 ? "" : B[W.budget[w]].name},
], W.name.length, "work", workText));
later(() => budgetList = makeList($("budgetlist"), "Budgets", [
  {name: "namespace", of: i => B[i].namespace}, {name: "budget", of: i => B[i].name}, {name: "healthy", num: true, wide: "5rem", of: i => B[i].healthy}, {name: "required", num: true, wide: "5rem", of: i => B[i].desired}, {name: "allowed", num: true, wide: "5rem", of: i => B[i].allowed}, {name: "rounds", num: true, wide: "5rem", of: i => B[i].rounds || 0}, {name: "effect", wide: "minmax(8rem,3fr)", of: i => says(B[i]), cls: i => "s-" + (B[i].tone || "good")},
], B.length, "budget", budgetText));

// Nodes can be filtered by state.
let only = "", sought = [];
const choose = name => { only = only === name ? "" : name; $("legend").querySelectorAll("button").forEach(x => x.setAttribute("aria-pressed", x.dataset.state === only)); search(); };
const legend = () => {
  const counts = {}; N.state.forEach(s => counts[N.states[s]] = (counts[N.states[s]] || 0) + 1);
  const chip = (name, n, cls) => { const b = el("button", "", el("span", "sw " + cls), name + " ", el("span", "count", num(n))); b.type = "button"; b.dataset.state = name; b.setAttribute("aria-pressed", false); b.addEventListener("click", () => choose(name)); $("legend").append(b); };
  Object.keys(counts).sort((a, b) => tone(b) - tone(a)).forEach(s => chip(s, counts[s], "b" + tone(s)));
  if (N.cordoned) chip("takes no pods", N.cordoned.length, "b2");
  if (N.blocked) chip("drain blocked", N.blocked.length, "bstuck");
};
const kept = i => !only || (only === "drain blocked" ? N.blocked.includes(i) : only === "takes no pods" ? N.cordoned.includes(i) : state(i) === only);

// Search goes through everything: rows, lists, and marks of pictures.
const marks = [...document.querySelectorAll(".pic [data-k]")];
const markText = m => (m.textContent + " " + (m.nextElementSibling?.tagName === "text" ? m.nextElementSibling.textContent : "")).toLowerCase();
const said = [...document.querySelectorAll("[data-s]")].map(e => [e, null]);
const search = () => {
  const words = sought = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = said.map(s => !words.length || words.every(w => (s[1] ??= s[0].textContent.toLowerCase()).includes(w)));
  let n = words.length ? hits.filter(hit => hit).length : 0;
  slowly("lists", 3, i => { const l = [nodeList, workList, budgetList][i]; if (l) n += l.filter(words, l === nodeList && kept); });
  slowly("count", 1, () => $("found").textContent = words.length ? many(n, "match", "matches") : "");
  slowly("said", said.length, i => said[i][0].hidden = !hits[i], 24);
  slowly("marks", marks.length, i => marks[i].classList.toggle("off", !words.every(w => markText(marks[i]).includes(w))), 256);
  at = -1;
  if (words.length) slowly("go", 1, () => step(1));
};
// Search goes to the first match, Enter to the next, and Shift with Enter to the one before.
let timer = 0, at = -1;
const matches = () => [...said.filter(s => !s[0].hidden).map(s => s[0]), ...lists.filter(l => l.found).map(l => l.box)].sort((a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
const step = by => {
  document.querySelectorAll(".match").forEach(m => m.classList.remove("match"));
  const all = sought.length ? matches() : [];
  if (!all.length) return;
  at = (at + by + all.length) % all.length;
  const to = all[at];
  for (let d = to.closest("details"); d; d = d.parentElement.closest("details")) if (d !== to) d.open = true;
  to.classList.add("match"); to.scrollIntoView({block: "center"});
};
on($("find"), "input", () => { clearTimeout(timer); timer = setTimeout(search, 80); });
on($("find"), "keydown", e => { if (e.key === "Enter") { step(e.shiftKey ? -1 : 1); e.preventDefault(); } });

// Pictures: zoom by buttons, keys and the wheel with Ctrl; marks by Tab and Enter. Where they are
// not seen, all but the map are not laid out, and have about the height that they will have.
const picture = pic => {
  const s = pic.querySelector("svg"), box = s.viewBox.baseVal;
  let zoom = 1;
  pic.style.containIntrinsicHeight = "auto " + Math.round(Math.min(box.height * 1100 / box.width, pic.classList.contains("tall") ? 510 : Infinity)) + "px";
  const set = z => { zoom = Math.max(.5, Math.min(6, z)); s.style.width = zoom === 1 ? "" : zoom * 100 + "%"; s.style.minWidth = zoom === 1 ? "" : 46 * zoom + "rem"; };
  const tools = el("div", "tools", el("div", ""));
  for (const [t, label, z] of [["+", "Zoom in", () => zoom * 1.4], ["−", "Zoom out", () => zoom / 1.4], ["⤢", "Fit", () => 1]]) { const b = el("button", "", t); b.type = "button"; b.title = label; b.setAttribute("aria-label", label); b.addEventListener("click", () => set(z())); tools.firstChild.append(b); }
  pic.prepend(tools); pic.tabIndex = 0; pic.setAttribute("role", "group");
  pic.addEventListener("wheel", e => { if (e.ctrlKey) { set(zoom * (e.deltaY < 0 ? 1.15 : 1 / 1.15)); e.preventDefault(); } }, {passive: false});
  pic.addEventListener("keydown", e => {
    if (e.key === "+" || e.key === "=") set(zoom * 1.4); else if (e.key === "-") set(zoom / 1.4); else if (e.key === "0") set(1); else return;
    e.preventDefault();
  });
};
for (const pic of document.querySelectorAll(".pic")) later(() => picture(pic));
slowly("keys", marks.length, i => { const m = marks[i]; if (m.tagName !== "path") { m.setAttribute("tabindex", 0); m.setAttribute("role", "button"); m.setAttribute("aria-label", vis(m.textContent)); } });
if (N) later(legend);
if (N) slowly("texts", N.name.length, nodeText); // before they are searched
if (W) slowly("worktexts", W.name.length, workText);
on(document, "keydown", e => {
  if (e.key === "Escape") { if (!close() && $("find").value) { $("find").value = ""; search(); } return; }
  if (e.target.closest("input") || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "Enter" && e.target.dataset && e.target.dataset.k && e.target.tagName !== "BUTTON") { why(e.target.dataset.k); e.preventDefault(); }
  else if (e.key === "/") { $("find").focus(); $("find").select(); e.preventDefault(); }
  else if (e.key === "t") swap();
  else if (e.key === "?") $("help").showModal();
  else if (e.key === "n" || e.key === "p") {
    const all = [...document.querySelectorAll("main section")], i = all.findLastIndex(s => s.getBoundingClientRect().top < 90), to = all[Math.max(0, Math.min(all.length - 1, e.key === "n" ? i + 1 : i - 1))];
    to.scrollIntoView(); to.tabIndex = -1; to.focus({preventScroll: true});
  }
});
on($("theme"), "click", swap);
on($("keys"), "click", () => $("help").showModal());
on($("close"), "click", close);

// The current section.
const links = new Map([...document.querySelectorAll("nav a")].map(a => [a.getAttribute("href").slice(1), a]));
const seen = new IntersectionObserver(entries => entries.forEach(e => { if (e.isIntersecting) links.forEach((a, id) => { a.classList.toggle("on", id === e.target.id); if (id === e.target.id) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current"); }); }), {rootMargin: "-20% 0px -75% 0px"});
document.querySelectorAll("main section").forEach(s => seen.observe(s));
stop.signal.addEventListener("abort", () => seen.disconnect());

// On paper the details of steps and findings are open; long tables have their first rows.
let shut = [];
on(window, "beforeprint", () => { shut = [...document.querySelectorAll("#waits details:not([open]), #findings details:not([open])")]; shut.forEach(d => d.open = true); document.documentElement.dataset.theme = "light"; });
on(window, "afterprint", () => { shut.forEach(d => d.open = false); theme(); });
later(() => { if ($("find").value) search(); });
};
setTimeout(show); // separate from parsing the page
return {$, el, show};
})();
