import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { NOW, withLedger } from '../frontier/known-ledger.ts';

test('bytes add up by day, server and cause, over several batches', () => {
  withLedger(1, ledger => {
    const { account } = ledger.servers;
    for (let batch = 0; batch < 2; batch++) {
      ledger.begin();
      account.add(NOW, 1, 'page', { spent: 100 });
      account.add(NOW + 5, 1, 'not-modified', { spent: 10, avoided: 400 });
      account.add(NOW + 6, 1, 'not-modified', { spent: 10, avoided: 500 });
      account.add(NOW + DAY, 1, 'page', { spent: 7 });
      ledger.commit();
    }
    const day = NOW / DAY;
    assert.deepEqual(
      account.rows().map(row => ({ ...row })),
      [
        { day, server: 1, cause: 'not-modified', visits: 4, spent: 40, avoided: 1800 },
        { day, server: 1, cause: 'page', visits: 2, spent: 200, avoided: 0 },
        { day: day + 1, server: 1, cause: 'page', visits: 2, spent: 14, avoided: 0 },
      ],
    );
    assert.deepEqual([account.spent, account.avoided], [254, 1800], 'since the process began');
  });
});
