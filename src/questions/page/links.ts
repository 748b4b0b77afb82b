/**
 * Who links to a page, and where it links to. What it links to stands where it is; who links to it may be in any partition,
 * and each that has such pages has a stub of the page for their links to lead to.
 */
import { lookUp } from '../../home/answers/lookup.ts';
import type { Question } from '../question.ts';
import { type AboutPage, pageQuestion } from './page.ts';

interface ShownLink {
  readonly url: string;
  readonly anchor: string;
  readonly nofollow: boolean;
}

interface LinksOut {
  readonly url: string;
  readonly links: readonly ShownLink[];
}

export const linksOutQuestion = pageQuestion('links-out', ({ ledger }, { page }): LinksOut => {
  const links = ledger.links.out(page.id).filter(link => link.target !== 0);
  return {
    url: page.url,
    links: links.map(({ target, anchor, nofollow }) => ({
      url: ledger.pages.get(target)?.url ?? '',
      anchor,
      nofollow,
    })),
  };
});

/** For the first of `urls` that the collection has: `links-out` says which one that is, so ask it first. */
export const linksInQuestion: Question<AboutPage, readonly ShownLink[], readonly ShownLink[]> = {
  name: 'links-in',
  ask({ ledger }, { urls }) {
    const found = lookUp(ledger, urls);
    if (!found) return [];
    return ledger.links
      .in(found.page.id)
      .map(({ source, anchor, nofollow }) => ({ url: ledger.pages.get(source)?.url ?? '', anchor, nofollow }));
  },
  merge: (_, parts) => parts.flat(),
};
