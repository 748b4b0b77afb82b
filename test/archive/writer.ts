/**
 * A process that fills an archive until it is killed: parcels, committed (with a plain append to a file in place of the
 * ledger) after their bytes are safe. Writes one line per commit to stdout.
 */
import * as fs from 'node:fs';
import path from 'node:path';
import { openArchive } from '../../src/archive/archive.ts';
import type { StoredPlace } from '../../src/archive/read.ts';
import { testParcel } from './pages.ts';

const [directory, segmentBytes] = process.argv.slice(2) as [string, string];
const commits = fs.openSync(path.join(directory, 'commits'), 'a+');
const lines = fs.readFileSync(path.join(directory, 'commits'), 'utf8').split('\n').slice(0, -1);
const last = lines.length > 0 ? JSON.parse(lines.at(-1)!) : { end: { segment: 0, length: 0 }, from: 0, places: [] };

const archive = openArchive(directory, { segmentBytes: Number(segmentBytes) });
archive.recover(last.end);
for (let from = last.from + last.places.length; ; ) {
  // Several parcels before each commit, so that a kill nearly always finds some that are not.
  const stored: StoredPlace[] = [];
  for (let parcel = 0; parcel < 4; parcel++) {
    const { members, places } = testParcel(from + stored.length, from + stored.length + 2);
    stored.push(
      ...archive.appendParcel(
        members,
        places.map(place => ({ place })),
      ),
    );
  }
  await archive.sync();
  const line = `${JSON.stringify({ end: archive.ends(0).at(-1)!, from, places: stored })}\n`;
  fs.writeSync(commits, line);
  process.stdout.write(line);
  from += stored.length;
}
