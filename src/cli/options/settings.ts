/** What few people need, given as `--set name=value`; docs/guides/options.md explains it. */
import { MOST_PARTITIONS } from '../../base/partition.ts';
import { detectorNames } from '../../crawler/detect/compare.ts';
import { orderNames } from '../../frontier/orders/order.ts';
import { estimators } from '../../revisit/estimator.ts';
import { type Check, count, either, number, oneOf, optional, or, text, webAddress } from './checks.ts';

export interface Setting {
  /** What is accepted. */
  readonly check: Check<unknown>;
  /** One sentence with unit and default. */
  readonly about: string;
}

const imagesAccepted = or(oneOf(['watch', 'store', 'off']), 'watch');

export const settings = {
  order: {
    check: optional(oneOf(orderNames)),
    about: 'breadth, pvalue or focused: which page to fetch next (default breadth; remembered)',
  },
  pvalue: {
    check: optional(text),
    about:
      'terms of the order pvalue: forward=1,backward=1 (weights), aging=0 (pages), service=4:2:1, lists=crawl or server (remembered)',
  },
  detector: {
    check: optional(oneOf(detectorNames)),
    about: `what counts as a change: ${detectorNames.join(', ')} (default content; remembered)`,
  },
  policy: {
    check: optional(oneOf(['value', 'uniform', 'proportional', 'pmcs', 'date', 'adaptive'])),
    about: 'when pages are due: value, uniform, proportional, pmcs, date or adaptive (default value; remembered)',
  },
  estimator: {
    check: optional(oneOf(Object.keys(estimators))),
    about: `how often a page changes: ${Object.keys(estimators).join(', ')} (default: the policy's own; remembered)`,
  },
  thresholds: {
    check: optional(text),
    about:
      'probabilities of change between which the policy pmcs lets outposts compare, as 0.1,0.8; with ,strict it sends all other pages as the paper does (default 0.1,0.8; remembered)',
  },
  images: {
    check: (given: unknown) => imagesAccepted(imagesMeant(given)),
    about:
      'watch, store or off: a refresh watches images by their headers; store fetches and keeps them all (default watch)',
  },
  threads: {
    check: optional(number({ least: 0, most: 64, whole: true })),
    about: 'threads that fetch and analyse here (default: as many as cores; 0 with --outpost)',
  },
  perServer: {
    check: optional(count()),
    about: 'pages of one server, protects against traps (default 1000000; remembered)',
  },
  partitions: {
    check: optional(count(MOST_PARTITIONS)),
    about: 'number of partitions of a new collection, by host; cannot be changed later (default 1)',
  },
  bodyLimit: {
    check: or(either(number({}), text), '16MB'),
    about: 'most bytes of one body; longer ones are truncated and marked (default 16MB)',
  },
  secondLook: {
    check: optional(number({ least: 0, most: 3600 })),
    about: 'seconds until a second fetch that tells noise from changes; 0 = none (default 3 for refresh, 90 for watch)',
  },
  cagedHooks: {
    check: or(oneOf(['on', 'off']), 'off'),
    about: 'on: run untrusted hooks in a sandbox, afterPage only (default off)',
  },
  audit: {
    check: or(number({ least: 0, most: 1 }), 0.02),
    about: 'share of the pages from other machines that home verifies itself, 0 to 1 (default 0.02)',
  },
  notices: {
    check: or(oneOf(['on', 'off']), 'on'),
    about: 'on: refresh and watch ask sites for their changes; off: they only fetch pages (default on)',
  },
  public: {
    check: optional(webAddress),
    about: 'public address of --listen for hubs and submissions, as https://home.example.org:7070',
  },
} as const satisfies Record<string, Setting>;

/** `--set images` alone, and yes and no in a config file. */
function imagesMeant(value: unknown): unknown {
  if (value === true || value === 'yes') return 'store';
  return value === false || value === 'no' ? 'off' : value;
}
