/** What a report can find, each with how much it matters and what it means to a reader. */
export type Level = 'error' | 'warning' | 'notice';

interface FindingCheck {
  readonly level: Level;
  /** Heading of the list. */
  readonly title: string;
  /** One sentence for people. */
  readonly means: string;
}

const check = (level: Level, title: string, means: string): FindingCheck => ({ level, title, means });

export const checks = {
  'broken-link': check('error', 'Broken links', 'Pages link to these URLs, but the URLs return no page.'),
  'broken-requisite': check(
    'error',
    'Broken requisites',
    'Pages use these images, styles or scripts, but they are missing.',
  ),
  'broken-external': check('error', 'Broken links to other sites', 'Pages link to these URLs of other sites.'),
  'redirect-loop': check('error', 'Redirect loops', 'These URLs redirect in a circle or too many times.'),
  'redirect-chain': check('warning', 'Redirect chains', 'It takes two or more redirects to reach the page.'),
  'canonical-broken': check('error', 'Broken canonicals', 'The canonical URL of the page returns no page.'),
  'canonical-moved': check('warning', 'Canonicals that redirect', 'The canonical URL is not the final one.'),
  'hreflang-broken': check('error', 'Broken translations', 'A translation of the page (hreflang) returns no page.'),
  'hreflang-unreturned': check(
    'warning',
    'Translations without a return link',
    'The translation does not name this page, so search engines ignore both.',
  ),
  'sitemap-dead': check(
    'error',
    'Sitemap entries without a page',
    'A sitemap lists these URLs, but they return no page.',
  ),
  'sitemap-missing': check('notice', 'Pages missing from the sitemap', 'Only links lead to these pages.'),
  orphan: check('warning', 'Orphans', 'A sitemap lists these pages, but no page links to them.'),
  'title-missing': check('warning', 'Pages without a title', 'Search results have nothing to show for them.'),
  'title-duplicate': check('warning', 'Duplicate titles', 'Readers cannot tell them apart.'),
  'title-long': check('notice', 'Long titles', 'More than 60 characters: search results cut them.'),
  'description-missing': check('notice', 'Pages without a description', 'These pages have no meta description.'),
  'description-duplicate': check('notice', 'Duplicate descriptions', 'Several pages share one description.'),
  'description-long': check('notice', 'Long descriptions', 'More than 160 characters: search results cut them.'),
  duplicate: check('warning', 'Duplicates', 'The same bytes exist under another URL, and no canonical link says so.'),
  'near-duplicate': check('notice', 'Near-duplicates', 'Nearly the same text as another page.'),
  slow: check('warning', 'Slow pages', 'They took more than two seconds to load.'),
  large: check('notice', 'Large pages', 'HTML of more than one megabyte.'),
} as const satisfies Record<string, FindingCheck>;

export type CheckName = keyof typeof checks;
export const checkNames = Object.keys(checks) as CheckName[];

/** A page that a finding concerns: it links to the URL, has the same title, or is its copy. */
export interface Related {
  readonly url: string;
  /** Text of the link; empty where it is none. */
  readonly anchor: string;
}

export interface Finding {
  readonly check: CheckName;
  readonly level: Level;
  readonly url: string;
  /** Since when it has been so, as far as visits tell; milliseconds since 1970. */
  readonly time: number;
  /** HTTP status, 0 = none came or none matters. */
  readonly status: number;
  /** A code of reasons.ts, a title, a number with its unit: what is wrong, in as few words as possible. */
  readonly detail: string;
  readonly related: readonly Related[];
}
