/**
 * A process that fills an archive until it is killed: parcel after parcel, each committed (with a plain append to a file
 * in place of the ledger) after its bytes are safe. Writes one line per commit to stdout.
 */
import * as fs from 'node:fs';
import path from 'node:path';
import { openArchive } from '../../src/archive/archive.ts';
import { testParcel } from './pages.ts';

const [directory, segmentBytes] = process.argv.slice(2) as [string, string];
const commits = fs.openSync(path.join(directory, 'commits'), 'a+');
const lines = fs.readFileSync(path.join(directory, 'commits'), 'utf8').split('\n').slice(0, -1);
const last = lines.length > 0 ? JSON.parse(lines.at(-1)!) : { end: { segment: 0, length: 0 }, from: 0, places: [] };

const archive = openArchive(directory, { segmentBytes: Number(segmentBytes) });
archive.recover(last.end);
for (let from = last.from + last.places.length; ; ) {
  const { members, places } = testParcel(from, from + 5);
  const stored = archive.appendParcel(
    members,
    places.map(place => ({ place })),
  );
  await archive.sync();
  const line = `${JSON.stringify({ end: archive.end(), from, places: stored })}\n`;
  fs.writeSync(commits, line);
  process.stdout.write(line);
  from += stored.length;
}
