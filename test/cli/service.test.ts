/** The unit that `skein service install` writes: systemd understands all of it, whatever the directory is called. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { serviceUnit } from '../../src/cli/service-unit.ts';
import { openLog } from '../../src/home/log.ts';
import { startWorkbench } from '../../src/workbench/start.ts';
import { crawlHere, skein, workplace } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';

test('systemd verifies the unit, and it is well confined', async t => {
  await using web = await openWeb({ pagesPerServer: 1 });
  using place = workplace();
  const data = join(place.path, 'pages of 100%');
  await crawlHere({ data }, web.seeds);
  const { code, stdout, stderr } = await skein([
    'service',
    'install',
    '--print',
    '--data',
    data,
    '--',
    '--budget',
    '10%',
  ]);
  assert.equal(code, 0, stderr);
  const unit = stdout.toString();
  assert.match(unit, /ExecStart=.*"watch" "--data" ".*100%%" "--budget" "10%%"/);
  assert.match(unit, /ReadWritePaths=.*pages\\x20of\\x20100%%\n/);
  const file = join(place.path, 'skein-test.service');
  writeFileSync(file, unit);
  const checked = spawnSync('systemd-analyze', ['verify', '--recursive-errors=no', file], { encoding: 'utf8' });
  if (checked.error) return t.skip('systemd-analyze is not here');
  assert.equal(`${checked.stdout}${checked.stderr}`, '');
  assert.equal(checked.status, 0);
});

test('a collection in /tmp is seen by its unit; elsewhere the unit has a /tmp of its own', () => {
  const unit = (data: string) => serviceUnit({ name: 'skein', command: ['skein', 'watch'], data, user: 1000 });
  assert.match(unit('/srv/pages'), /^PrivateTmp=yes$/m);
  for (const data of ['/tmp/pages', '/var/tmp/pages']) assert.doesNotMatch(unit(data), /PrivateTmp/);
});

test('the workbench says that it lives and that it is ready, to whoever asks', async () => {
  await using web = await openWeb({ pagesPerServer: 1 });
  using place = workplace();
  await crawlHere({ data: place.path }, web.seeds);
  const bench = await startWorkbench({ directory: place.path, port: 0, version: '0' });
  try {
    for (const name of ['healthz', 'readyz']) {
      const answer = await fetch(new URL(`/${name}`, bench.address));
      assert.equal(answer.status, 200, name);
    }
    const metrics = await (await fetch(new URL('/metrics', bench.address))).text();
    assert.match(metrics, /^# TYPE skein_visits_total counter$/m);
    assert.match(metrics, /^skein_visits_total\{outcome="fetched"\} [1-9]/m);
    assert.match(metrics, /^skein_wire_bytes_total\{direction="down"\} [1-9]/m);
  } finally {
    await bench.close();
  }
});

test('a log that has grown large begins anew, and five old ones are kept', async () => {
  using place = workplace();
  const file = join(place.path, 'skein.log');
  for (let run = 0; run < 8; run++) {
    const log = openLog(place.path, 'test');
    log.write('info', {}, 'a line');
    log.close();
    log.write('info', {}, 'too late');
    truncateSync(file, 10_000_001);
  }
  assert.deepEqual(
    readdirSync(place.path).sort(),
    ['skein.log', ...[1, 2, 3, 4, 5].map(number => `skein.log.${number}`)].sort(),
  );
});
