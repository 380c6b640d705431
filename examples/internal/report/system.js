"use strict";
// The system of one program for WASI: it reads a question from its standard input and writes the
// answer to its standard output. It has a clock and random numbers, and no files.
const bytes = text => { const raw = atob(text), all = new Uint8Array(raw.length); for (let i = 0; i < raw.length; i++) all[i] = raw.charCodeAt(i); return all; };
const unpack = text => new Response(new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("gzip")));
class Exit { constructor(code) { this.code = code; } }

// Each line that it writes is an answer, and told at once.
const run = async (program, input, tell) => {
  const written = [null, [], []], badFile = 8, noSystem = 52;
  let memory, read = 0;
  const number = (at, n) => new DataView(memory.buffer).setUint32(at, n, true);
  const parts = (list, count) => { const v = new DataView(memory.buffer); return [...Array(count).keys()].map(i => new Uint8Array(memory.buffer, v.getUint32(list + 8 * i, true), v.getUint32(list + 8 * i + 4, true))); };
  const line = () => { const all = written[1].splice(0), whole = new Uint8Array(all.reduce((n, part) => n + part.length, 0)); let at = 0; for (const part of all) { whole.set(part, at); at += part.length; } return JSON.parse(new TextDecoder().decode(whole)); };
  const system = {
    fd_read(file, list, count, sum) {
      if (file) return badFile;
      let n = 0;
      for (const to of parts(list, count)) { const part = input.subarray(read, read + to.length); to.set(part); read += part.length; n += part.length; }
      number(sum, n);
      return 0;
    },
    fd_write(file, list, count, sum) {
      if (!written[file]) return badFile;
      let n = 0;
      for (const from of parts(list, count)) { written[file].push(from.slice()); n += from.length; if (file === 1 && from[from.length - 1] === 10) tell(line()); }
      number(sum, n);
      return 0;
    },
    clock_time_get(clock, precision, at) { new DataView(memory.buffer).setBigUint64(at, BigInt(Math.round((clock ? performance.now() : Date.now()) * 1e6)), true); return 0; },
    random_get(at, count) { crypto.getRandomValues(new Uint8Array(memory.buffer, at, count)); return 0; },
    poll_oneoff(list, events, count, sum) { // waiting: every wait ends at once
      const v = new DataView(memory.buffer);
      for (let i = 0; i < count; i++) { new Uint8Array(memory.buffer, events + 32 * i, 32).fill(0); v.setBigUint64(events + 32 * i, v.getBigUint64(list + 48 * i, true), true); v.setUint8(events + 32 * i + 10, v.getUint8(list + 48 * i + 8)); }
      number(sum, count);
      return 0;
    },
    args_sizes_get(count, size) { number(count, 0); number(size, 0); return 0; },
    environ_sizes_get(count, size) { number(count, 0); number(size, 0); return 0; },
    args_get: () => 0, environ_get: () => 0, sched_yield: () => 0, fd_prestat_get: () => badFile,
    proc_exit(code) { throw new Exit(code); },
  };
  const all = new Proxy({}, {get: (_, name) => system[name] || (() => noSystem)});
  const instance = await WebAssembly.instantiate(program, {wasi_snapshot_preview1: all});
  memory = instance.exports.memory;
  let code = 0;
  try { instance.exports._start(); } catch (e) { if (!(e instanceof Exit)) throw e; code = e.code; }
  const text = file => new Blob(written[file]).text();
  if (code) throw new Error((await text(2)).trim() || "the engines exited with code " + code);
};

let ready; // the program and the input of questions
onmessage = async ({data}) => {
  if (data.engine) {
    ready = Promise.all([unpack(data.engine).arrayBuffer().then(b => WebAssembly.compile(b)), unpack(data.input).text(), data.before]);
    ready.catch(() => {}); // reported with the first question
    return;
  }
  try {
    const [program, input, before] = await ready;
    await run(program, new TextEncoder().encode('{"input":' + input + ',"before":' + before + ',"change":' + JSON.stringify(data.change) + "}"), postMessage);
  } catch (e) { postMessage({error: String(e.message || e)}); }
};
