/** Pages that are the same as others, nearly the same, now this and now that, or the same under several URLs. */
import { HOUR } from '../../../src/base/clock.ts';
import { encode } from '../charset.ts';
import { hashOf } from '../random.ts';
import type { Document } from '../render.ts';
import { blank, render } from '../render.ts';
import type { Entry, Hit, Site, Wing } from '../site.ts';
import { html, reply } from '../site.ts';
import { paragraph } from '../words.ts';

const write = (document: Partial<Document>, hit: Hit): string =>
  render({ ...blank, ...document }, { design: 0, noise: [], hit, hash: 0 });

const page = (path: string, document: (hit: Hit) => Partial<Document>): Entry => ({
  path,
  expect: 'page',
  found: 'links',
  reply: hit => reply(200, write(document(hit), hit)),
});

function story(site: Site, number: number): string[] {
  return Array.from({ length: 8 }, (_, index) => paragraph(hashOf(site.options.seed, site.server, number, index), 6));
}

/** Two exact copies; three pages that differ in one word of about 500. */
export function duplicates(site: Site): Wing {
  const exact = story(site, 900);
  const near = story(site, 901);
  const entries = [
    page('/d/exact-1.html', () => ({ title: 'Copy', paragraphs: exact })),
    page('/d/exact-2.html', () => ({ title: 'Copy', paragraphs: exact })),
    ...[1, 2, 3].map(number =>
      page(`/d/near-${number}.html`, () => ({ title: 'Nearly', paragraphs: [...near, `Number ${number}.`] })),
    ),
  ];
  return { entries, doors: entries.map(({ path }) => ({ path, anchor: `Copy ${path}` })) };
}

/** Two versions in turn: by request (two back ends out of step), and by the hour. */
export function alternating(site: Site): Wing {
  const versions = [story(site, 910), story(site, 911)];
  const entries = [
    page('/x/by-request.html', ({ count }) => ({ title: 'In turn', paragraphs: versions[count % 2]! })),
    page('/x/by-hour.html', ({ time }) => ({
      title: 'By the hour',
      paragraphs: versions[Math.floor(time / HOUR) % 2]!,
    })),
  ];
  return { entries, doors: entries.map(({ path }) => ({ path, anchor: `Alternating ${path}` })) };
}

/** One page under tracking parameters, odd spellings, fragments, `<base>`, and with a canonical link. */
export function variants(site: Site): Wing {
  const plain = page('/v/page.html', () => ({ title: 'Variants', paragraphs: story(site, 920) }));
  const canonical = page('/v/printable.html', () => ({
    title: 'Variants',
    paragraphs: story(site, 920),
    head: [`<link rel="canonical" href="${site.origin}/v/page.html">`],
  }));
  const based = page('/v/based.html', () => ({
    title: 'Based',
    head: ['<base href="/v/below/">'],
    links: [{ href: 'leaf.html', anchor: 'Leaf' }],
  }));
  const leaf = page('/v/below/leaf.html', () => ({ title: 'Leaf', paragraphs: ['Found only through the base.'] }));
  const doors = [
    '/v/page.html?utm_source=door&utm_medium=test',
    '/v/page.html?gclid=abc123',
    '/v/./x/../page.html#part',
    '/v/%70age.html',
    '/v/printable.html',
    '/v/based.html',
  ];
  return {
    entries: [plain, { ...plain, path: '/v/page.html?*', found: 'unlinked' }, canonical, based, leaf],
    doors: doors.map(path => ({ path, anchor: `Variant ${path}` })),
  };
}

const SAMPLES: readonly (readonly [charset: string, declared: 'header' | 'meta' | 'mark' | 'nowhere', text: string])[] =
  [
    ['utf-8', 'nowhere', 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.'],
    ['windows-1252', 'meta', 'Señor Muñoz paid 5 € for a “crème brûlée” – naïve!'],
    ['iso-8859-2', 'header', 'Příliš žluťoučký kůň úpěl ďábelské ódy.'],
    ['windows-1251', 'meta', 'Съешь же ещё этих мягких французских булок, да выпей чаю.'],
    ['koi8-r', 'header', 'Широкая электрификация южных губерний.'],
    ['shift_jis', 'meta', 'いろはにほへと ちりぬるを 日本語のページです。'],
    ['euc-jp', 'header', '日本語のページです。わかよたれそ つねならむ'],
    ['gb18030', 'meta', '天地玄黄 宇宙洪荒 这是一个中文网页。'],
    ['big5', 'header', '天地玄黃 宇宙洪荒 這是一個中文網頁。'],
    ['euc-kr', 'meta', '다람쥐 헌 쳇바퀴에 타고파.'],
    ['utf-16le', 'mark', 'Sixteen bits a letter: ∀x∈ℝ ⌈x⌉ = −⌊−x⌋.'],
  ];

/** The text that each page of this feature must decode to, by path. */
export const charsetTexts: ReadonlyMap<string, string> = new Map(
  SAMPLES.map(([name, , text]) => [`/c/${name}.html`, text]),
);

export function charsets(): Wing {
  const entries = SAMPLES.map(([name, declared, text]): Entry => {
    const meta = declared === 'meta' ? `<meta charset="${name}">` : '';
    const source = `<!DOCTYPE html><html><head>${meta}<title>${name}</title></head><body><p>${text}</p></body></html>`;
    const type =
      declared === 'header' ? { 'content-type': `text/html; charset=${name}` } : { 'content-type': 'text/html' };
    return {
      path: `/c/${name}.html`,
      expect: 'page',
      found: 'links',
      reply: () => reply(200, encode(source, name), { ...html, ...type }),
    };
  });
  return { entries, doors: entries.map(({ path }) => ({ path, anchor: `Charset ${path}` })) };
}
