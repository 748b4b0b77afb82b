/**
 * What a caged process runs before the code comes, as text: in there no file can be read. It is plain JavaScript that any
 * Node from 22 on understands.
 *
 * Frames come on standard input: a length, then the code, and after that batches of pages (decider.ts). Two bytes of
 * answer go to standard output for each of them, at once, so that it is known which page a process that hangs was at; behind
 * those of a hook that says more stand the length of its JSON, and that.
 * What the code tries and may not do ends the process on the spot: the permission model forbids it in any case, but an
 * attempt says enough about whoever sent the code, and its owner is to hear of it.
 */
export const RUNNER = `
import { subscribe } from 'node:diagnostics_channel';
const { stdin, stdout, stderr, pid } = process;
const answer = stdout.write.bind(stdout);
const complain = stderr.write.bind(stderr);
const end = process.kill.bind(process, pid, 'SIGKILL');
for (const area of ['fs', 'child', 'worker', 'net', 'inspector', 'wasi', 'addon', 'ffi']) {
  subscribe('node:permission-model:' + area, ({ permission, resource }) => {
    complain('Error: it tried what it may not do: ' + (permission + ' ' + resource).trim() + '\\n');
    end();
  });
}
const say = (bits, byte) => answer(String.fromCharCode(64 | bits, byte & 255), 'latin1');
const more = (bits, byte, wish) => {
  const json = Buffer.from(JSON.stringify(wish));
  const head = Buffer.from([64 | 4 | bits, byte & 255, 0, 0, 0, 0]);
  head.writeUInt32LE(json.length, 2);
  answer(Buffer.concat([head, json]));
};
const wanted = ['facts', 'text', 'body'];
let wants;
const pageOf = (batch, start) => {
  const word = i => batch.readUInt32LE(start + 4 * i);
  let at = start + 48;
  const text = i => batch.toString('utf8', at, (at += word(i)));
  const page = {
    first: (word(1) & 1) !== 0, status: word(2), depth: word(3), bytes: word(4), links: word(5), words: word(6),
    url: text(7), title: text(8), language: text(9), mediaType: text(10),
  };
  if (wants === 'text') page.text = text(11);
  if (wants === 'body') page.body = batch.subarray(at, at + word(11));
  return page;
};
const shown = ({ text, body, ...page }) => {
  const missing = (name, wants) => () => {
    throw new Error('it calls ' + name + '() and does not export const wants = ' + JSON.stringify(wants));
  };
  const bytes = () => Uint8Array.from(body);
  const html = () => body.toString();
  page.text = text === undefined ? missing('text', 'text') : () => text;
  page.html = body === undefined ? missing('html', 'body') : html;
  page.body = body === undefined ? missing('body', 'body') : bytes;
  return page;
};
const script = async code => {
  const module = await import('data:text/javascript;base64,' + code.toString('base64'));
  const hooks = typeof module.default === 'object' ? module.default : undefined;
  const decide = hooks ? page => hooks.afterPage(shown(page)) : module.default;
  if (hooks && (typeof hooks.afterPage !== 'function' || hooks.beforeRequest))
    throw new Error('hooks in a cage have afterPage, and nothing else');
  if (typeof decide !== 'function') throw new Error('it has no default export that is a function');
  wants = module.wants ?? (hooks ? 'body' : 'facts');
  if (!wanted.includes(wants)) throw new Error('it wants something else than facts, text or body');
  return async batch => {
    for (let at = 0; at < batch.length; at += batch.readUInt32LE(at)) {
      const made = decide(pageOf(batch, at));
      const wish = (typeof made?.then === 'function' ? await made : made) ?? {};
      const { keep = true, follow = true, relevance = wish.priority ?? 0, add, data } = wish;
      const bits = (keep ? 1 : 0) | (follow ? 2 : 0);
      const byte = Math.max(0, Math.min(255, Math.round(relevance) || 0));
      if (hooks && (add || data !== undefined)) more(bits, byte, { add, data });
      else say(bits, byte);
    }
  };
};
const module = code => {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code));
  const { memory, input, decide } = exports;
  if (!memory || !input || !decide) throw new Error('it does not export memory, input and decide');
  wants = exports.body ? 'body' : exports.text ? 'text' : 'facts';
  return batch => {
    for (let at = 0, length; at < batch.length; at += length) {
      length = batch.readUInt32LE(at);
      const address = input(length) >>> 0;
      new Uint8Array(memory.buffer).set(batch.subarray(at, at + length), address);
      const bits = decide(address, length);
      say((bits >> 8) & 3, bits);
    }
  };
};
let run, pieces = [], held = 0, need = 4, head = true;
for await (const piece of stdin) {
  pieces.push(piece);
  held += piece.length;
  while (held >= need) {
    const all = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces, held);
    const frame = all.subarray(0, need);
    pieces = [all.subarray(need)];
    held -= need;
    need = head ? frame.readUInt32LE(0) : 4;
    head = !head;
    if (!head) continue;
    if (run) await run(frame);
    else {
      run = await (frame.readUInt32LE(0) === 0x6d736100 ? module : script)(frame);
      say(0, wanted.indexOf(wants));
    }
  }
}`;
