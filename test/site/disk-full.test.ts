/** A disk that fills up under the journal. Needs a file system of its own, so it runs as root on Linux only. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { folder, page, startSite, write } from './site-here.ts';

function mount(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'pipe' });
    return true;
  } catch {
    return false; // no right, or no such tool: the test says that it is skipped
  }
}

/** Small pages fill the journal alone, larger ones are also kept as versions. */
const texts = { 'small pages': 'two', 'larger pages': `two ${'long '.repeat(200)}` };

for (const [name, text] of Object.entries(texts))
  test(`a full disk is said, the faces go on, and with room everything is told: ${name}`, async context => {
    const data = mkdtempSync(join(tmpdir(), 'skein-full-'));
    if (!mount('-t', 'tmpfs', '-o', 'size=512k', 'skein-test', data)) {
      return context.skip('a small file system can only be mounted by root');
    }
    context.after(() => {
      execFileSync('umount', ['-l', data]);
      rmdirSync(data);
    });
    const root = folder(context);
    for (let i = 0; i < 400; i++) write(root, `${i}.html`, page(`Page ${i}`, 'one'));
    const said: string[] = [];
    const here = await startSite(context, { directory: root, data, say: text => said.push(text) });
    const { cursor } = (await here.discovery()).journal;
    writeFileSync(join(data, 'filler'), Buffer.alloc(4096));
    for (let size = 1 << 18; size >= 1; size >>= 1) {
      try {
        writeFileSync(join(data, 'filler'), Buffer.alloc(size), { flag: 'a' });
      } catch {
        // A smaller piece may still fit.
      }
    }
    for (let i = 0; i < 400; i++) write(root, `${i}.html`, page(`Page ${i}`, text));
    await here.site.changed().catch(() => {}); // that is what it says
    assert.ok(
      said.some(text => /no space left|cannot be written/i.test(text)),
      said.join('\n'),
    );
    assert.equal((await here.discovery()).pages, 400);
    assert.ok(mount('-o', 'remount,size=16m', data));
    for (let tries = 0; tries < 3; tries++) await here.site.changed();
    const told = (await here.changes(cursor))!;
    assert.equal(told.changes.length, 400);
    await here.close();
    const again = await startSite(context, { directory: root, data });
    assert.equal((await again.changes(cursor))!.cursor, told.cursor);
  });
