/** Who may come in: listed, approved, limited and revoked while home runs. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { Members } from '../../src/transfer/entry/members.ts';
import { skein, skeinJson } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';
import { openTarget } from './home.ts';
import { type Lie, startLiar } from './liar.ts';

interface Listed {
  readonly members: readonly { name: string; revoked?: number; quotas: { pages?: number } }[];
  readonly invitations: readonly { id: string; secret?: string }[];
}

const idle: Lie = ({ id }, { line }) => void line.send({ kind: 'give-up', errand: id, why: 'not now' });

test('a member is limited and revoked while home runs, and an invitation too', async () => {
  await using web = await openWeb({ seed: 3, servers: 1, pagesPerServer: 3 });
  await using home = await openTarget(web.seeds);
  const data = ['--data', home.directory];
  await using liar = await startLiar('near', home.token(), idle);
  const limited = await skein(['outpost', 'limit', 'near', '--pages-a-day', '7', ...data]);
  assert.equal(limited.code, 0, limited.stderr);
  while (liar.ended === undefined) await new Promise(resolve => setTimeout(resolve, 50));
  assert.match(liar.ended, /its terms have changed/);
  const lifted = await skein(['outpost', 'limit', 'near', '--pages-a-day', 'none', '--bytes-a-day', '1GB', ...data]);
  assert.equal(lifted.code, 0, lifted.stderr);
  const { members } = await skeinJson<Listed>('outpost', 'members', ...data);
  assert.deepEqual(members[0]?.quotas, { bytes: 1e9 });
  assert.equal((await skein(['outpost', 'limit', 'near', '--pages-a-day', '7', ...data])).code, 0);
  const open = home.token();
  const before = await skeinJson<Listed>('outpost', 'members', ...data);
  assert.deepEqual(
    before.members.map(({ name, quotas }) => [name, quotas.pages]),
    [['near', 7]],
  );
  assert.ok(
    before.invitations.every(({ secret }) => secret === undefined),
    'no secret is shown',
  );
  const words = readIdOf(open);
  assert.equal((await skein(['outpost', 'revoke', words, ...data])).code, 0);
  await assert.rejects(startLiar('late', open, idle), /its token is wrong/);
  await using other = await startLiar('other', home.token(), idle);
  assert.equal((await skein(['outpost', 'revoke', 'other', ...data])).code, 0);
  while (other.ended === undefined) await new Promise(resolve => setTimeout(resolve, 50));
  assert.match(other.ended, /revoked/);
  assert.equal((await skein(['outpost', 'revoke', 'nobody', ...data])).code, 3);
  const { stdout } = await skein(['outpost', 'members', ...data]);
  assert.match(stdout.toString(), /other\s+revoked/);
});

function readIdOf(token: string): string {
  return JSON.parse(Buffer.from(token.slice('skein1.'.length), 'base64url').toString()).id;
}

test('one that was revoked cannot come back, and one that needs approval waits for it', async () => {
  await using web = await openWeb({ seed: 3, servers: 1, pagesPerServer: 3 });
  await using home = await openTarget(web.seeds);
  const members = new Members(join(home.directory, 'door'));
  const terms = { host: '127.0.0.1', port: home.port, expires: Date.now() + DAY, uses: 9, servers: [], quotas: {} };
  const token = members.invite({ ...terms, approve: true });
  await assert.rejects(startLiar('waits', token, idle), /needs approval first/);
  assert.equal(members.approve('waits'), true);
  const { key } = members.all()[0]!;
  const hello = { key, name: 'waits', token: '', servers: [] } as unknown as Parameters<Members['admit']>[0];
  assert.equal(members.admit(hello, Date.now()).name, 'waits');
  assert.equal(members.revoke('waits', Date.now()), true);
  const again = JSON.parse(Buffer.from(token.slice('skein1.'.length), 'base64url').toString());
  assert.throws(() => members.admit({ ...hello, token: `${again.id}.${again.secret}` }, Date.now()), /was revoked/);
});
