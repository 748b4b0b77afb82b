/**
 * What travelling costs on a line of 10 Mbit/s with a round trip of 50 ms: the way of the code to a machine that ssh
 * reaches, when it was never there and when it is kept there, and the round trip of an errand of one page, fetched
 * beside the outpost. tbf makes the rate, a relay at home's end the delay.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { linkBytes, run, SITE } from './network.ts';
import { onStage } from './stage.ts';
import type { Journey, Travelled } from './travel-home.ts';

const ROUND_TRIP = 50;
const ERRANDS = 10;
const TURNS = 3;

export async function travel(): Promise<string[]> {
  const verdicts: string[] = [];
  await onStage({ rate: '10mbit' }, async stage => {
    await stage.day(0);
    const [page] = (await stage.urls(0)) as [string];
    const sshd = run('site', 'travel-sshd.ts', join(stage.directory, 'ssh'));
    const { missing, url, port, command } = JSON.parse(await sshd.ready);
    if (missing) return void verdicts.push(`travel: skipped, ${missing}`);
    await run('site', 'relay.ts', SITE, '1', String(port), '127.0.0.1').ready;
    await run('home', 'relay.ts', '127.0.0.1', '1', String(port), SITE, String(ROUND_TRIP / 2)).ready;
    const kept = join(stage.directory, 'kept');
    const order: Journey = {
      ...{ url: `${url}${kept}`, command, page, errands: ERRANDS },
      data: join(stage.directory, 'travel-home'),
    };
    const journey = async (): Promise<Trip> => {
      const before = linkBytes();
      const travelled = JSON.parse(
        (await run('home', 'travel-home.ts', JSON.stringify(order)).output).trim(),
      ) as Travelled;
      const after = linkBytes();
      return { ...travelled, bytes: after.up - before.up + after.down - before.down };
    };
    const journeys: { fresh: Trip; again: Trip }[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      rmSync(kept, { recursive: true, force: true });
      journeys.push({ fresh: await journey(), again: await journey() });
    }
    const seconds = (of: 'fresh' | 'again') => median(journeys.map(each => each[of].arrival)) / 1000;
    const kilo = (of: 'fresh' | 'again') => median(journeys.map(each => each[of].bytes)) / 1000;
    const errands = journeys.flatMap(({ fresh, again }) => [...fresh.errands.slice(1), ...again.errands.slice(1)]);
    const errand = median(errands).toFixed(0);
    const size = (journeys[0]!.fresh.code / 1000).toFixed(0);
    console.log(`a round trip of ${ROUND_TRIP} ms, 10 Mbit/s   s until it works   kB with ${ERRANDS} errands`);
    for (const [name, of] of [
      [`code sent (${size} kB)`, 'fresh'],
      ['code kept there', 'again'],
    ] as const) {
      console.log(`${name.padEnd(34)}${seconds(of).toFixed(2).padStart(17)}${kilo(of).toFixed(1).padStart(24)}`);
    }
    console.log(`errand of one page, and back: ${errand} ms (median of ${errands.length})`);
    verdicts.push(
      `travel: an errand takes ${errand} ms on a line of ${ROUND_TRIP} ms; ` +
        `the code ${seconds('fresh').toFixed(2)} s the first time, ${seconds('again').toFixed(2)} s when it is there`,
    );
    await sshd.end(); // the server below it would outlive a kill
  });
  return verdicts;
}

type Trip = Travelled & { readonly bytes: number };

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
