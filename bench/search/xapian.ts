/** Xapian by the programs that come with it: Omega's scriptindex takes pages in, quest answers. Installed by name. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchDocument } from '../../src/search/index.ts';

/** The weights of the other peers; words are spelling hints, too. */
const script = `page : field=page
title : weight=8 index spell
headings : weight=3 index spell
anchors : weight=4 index spell
text : index spell
`;
const flags = 'default,partial,spelling_correction,cjk_ngram';

interface Found {
  readonly ids: number[];
  readonly meant: string;
}

export function xapian(root: string, directory: string) {
  const install = join(root, 'scripts', 'install-debian.sh');
  execFileSync('bash', [install, 'xapian-tools', 'xapian-omega'], { stdio: 'inherit' });
  const [database, rules, dump] = ['xapian', 'xapian.script', 'xapian.dump'].map(name => join(directory, name));
  mkdirSync(directory, { recursive: true });
  writeFileSync(rules!, script);
  const environment = { ...process.env, XAPIAN_CJK_NGRAM: '1' };
  const ask = (query: string): Found => {
    const parts = ['--db', database!, '--msize=20', `--flags=${flags}`, '--', query];
    const said = execFileSync('quest', parts, { encoding: 'utf8', env: environment });
    const ids = [...said.matchAll(/^page=(\d+)$/gm)].map(([, id]) => Number(id));
    return { ids, meant: /^Did you mean: (.+)$/m.exec(said)?.[1] ?? '' };
  };
  return {
    put(documents: readonly SearchDocument[]) {
      const fields = ['title', 'headings', 'anchors', 'text'] as const;
      const lines = documents.map(page =>
        [`page=${page.page}`, ...fields.map(field => `${field}=${page[field].replaceAll('\n', '\n=')}`), ''].join('\n'),
      );
      writeFileSync(dump!, `${lines.join('\n')}\n`);
      execFileSync('scriptindex', [database!, rules!, dump!], { stdio: 'ignore', env: environment });
    },
    query(text: string): number[] {
      const found = ask(text);
      return found.ids.length === 0 && found.meant !== '' ? ask(found.meant).ids : found.ids;
    },
  };
}
