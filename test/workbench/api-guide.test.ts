/** docs/api.md names every endpoint of the workbench's table, and none that there is not. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { routes } from '../../src/workbench/api/table.ts';
import { root } from '../journeys/skein.ts';

/** `GET /servers`, `/servers/{id}`: the method holds for all paths of a cell; `…/links` goes on from the first of them. */
function documented(): Set<string> {
  const text = readFileSync(join(root, 'docs', 'api.md'), 'utf8');
  const found = new Set<string>();
  for (const [cell] of text.matchAll(/^\| `(?:GET|POST) \/[^|]*/gm)) {
    const [, method = '', first = ''] = /`(GET|POST) ([^`?]*)/.exec(cell)!;
    for (const [, path = ''] of cell.matchAll(/`(?:(?:GET|POST) )?([/…][^`?]*)/g))
      found.add(`${method} ${path.replace('…', first.replace(/\/(?:start|links|visits|why)$/, ''))}`);
  }
  return found;
}

test('the endpoints of the guide are those of the table', () => {
  const own = new Set(routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
  const guide = documented();
  guide.delete('GET /live'); // a stream, served beside the table
  assert.deepEqual(
    [...guide].filter(each => !own.has(each)),
    [],
  );
  assert.deepEqual(
    [...own].filter(each => !guide.has(each)),
    [],
  );
});
