/** What a report can find, each with how much it matters and what it means to a reader. */
export type Level = 'error' | 'warning' | 'notice';

export interface Check {
  readonly level: Level;
  /** Heading of the list. */
  readonly title: string;
  /** One sentence for people. */
  readonly means: string;
}

const check = (level: Level, title: string, means: string): Check => ({ level, title, means });

export const checks = {
  'broken-link': check('error', 'Broken links', 'Pages link to these URLs, which give no page.'),
  'broken-requisite': check(
    'error',
    'Broken requisites',
    'Pages need these images, styles or scripts, which are not there.',
  ),
  'broken-external': check('error', 'Broken links to other sites', 'Pages link to these URLs of other sites.'),
  'redirect-loop': check('error', 'Redirect loops', 'These URLs redirect in a circle, or too often.'),
  'redirect-chain': check('warning', 'Redirect chains', 'It takes two or more redirects to reach the page.'),
  'canonical-broken': check('error', 'Broken canonicals', 'The canonical URL that the page names gives no page.'),
  'canonical-moved': check('warning', 'Canonicals that redirect', 'The canonical URL is not the final one.'),
  'hreflang-broken': check('error', 'Broken translations', 'A translation that the page names (hreflang) is no page.'),
  'hreflang-unreturned': check(
    'warning',
    'Translations that do not link back',
    'The translation does not name this page, so search engines ignore both.',
  ),
  'sitemap-dead': check('error', 'Sitemap entries that are no pages', 'A sitemap names these, and they give no page.'),
  'sitemap-missing': check('notice', 'Pages that no sitemap names', 'They were found by links alone.'),
  orphan: check('warning', 'Orphans', 'A sitemap names these pages, and no page links to them.'),
  'title-missing': check('warning', 'Pages without a title', 'Search results have nothing to show for them.'),
  'title-duplicate': check('warning', 'Titles that several pages share', 'Readers cannot tell them apart.'),
  'title-long': check('notice', 'Titles that are too long', 'More than 60 characters: search results cut them.'),
  'description-missing': check('notice', 'Pages without a description', 'There is no meta description.'),
  'description-duplicate': check('notice', 'Descriptions that several pages share', 'They describe none of them.'),
  'description-long': check('notice', 'Descriptions that are too long', 'More than 160 characters are cut.'),
  duplicate: check('warning', 'Duplicates', 'The same bytes under another URL, and no canonical that says so.'),
  'near-duplicate': check('notice', 'Near-duplicates', 'Nearly the same text as another page.'),
  slow: check('warning', 'Slow pages', 'They took more than two seconds to come.'),
  large: check('notice', 'Large pages', 'HTML of more than one megabyte.'),
} as const satisfies Record<string, Check>;

export type CheckName = keyof typeof checks;
export const checkNames = Object.keys(checks) as CheckName[];

/** A page that has to do with a finding: the one that links there, that has the same title, that is its twin. */
export interface Related {
  readonly url: string;
  /** Text of the link; empty where it is none. */
  readonly anchor: string;
}

export interface Finding {
  readonly check: CheckName;
  readonly level: Level;
  readonly url: string;
  /** Since when, as far as visits tell; milliseconds since 1970. */
  readonly time: number;
  /** HTTP status, 0 = none came or none matters. */
  readonly status: number;
  /** A code of reasons.ts, a title, a number with its unit: what is wrong, in as few words as possible. */
  readonly detail: string;
  readonly related: readonly Related[];
}
