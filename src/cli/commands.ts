/**
 * The commands, in the order of the help: what each is called and does. What a command needs is loaded with it, and only
 * the one that was asked for, so that `skein --help` and short commands answer at once.
 */
import type { Command } from 'commander';

interface CommandEntry {
  /** Name and arguments, as commander writes them. */
  readonly usage: string;
  readonly about: string;
  readonly load: () => Promise<(program: Command) => void>;
}

export const commands: readonly CommandEntry[] = [
  {
    usage: 'crawl [seeds...]',
    about: 'collect sites; run again to resume or continue',
    load: async () => (await import('./commands/crawl.ts')).addCrawlCommand,
  },
  {
    usage: 'refresh',
    about: 'one round: look again at what is due, within the budget',
    load: async () => (await import('./commands/refresh.ts')).addRefreshCommand,
  },
  {
    usage: 'watch',
    about: 'keep the collection fresh until stopped, within the budget',
    load: async () => (await import('./commands/refresh.ts')).addWatchCommand,
  },
  {
    usage: 'search <query...>',
    about: 'find pages by what they say; the index is brought up to date first',
    load: async () => (await import('./commands/search.ts')).addSearchCommand,
  },
  {
    usage: 'changes [pattern]',
    about: 'what changed, when, how much, and how it was noticed',
    load: async () => (await import('./commands/changes.ts')).addChangesCommand,
  },
  {
    usage: 'notify',
    about: 'be told of changes: by webhook, mail, command or feed, by rules of your own',
    load: async () => (await import('./commands/notify.ts')).addNotifyCommand,
  },
  {
    usage: 'report',
    about: 'what is wrong with a site: broken links, redirects, titles, duplicates, orphans; its structure',
    load: async () => (await import('./commands/report.ts')).addReportCommand,
  },
  {
    usage: 'diff <url>',
    about: 'what differs between two stored versions of a page, word by word',
    load: async () => (await import('./commands/diff.ts')).addDiffCommand,
  },
  {
    usage: 'history <url>',
    about: 'every visit to a page, with what came of it',
    load: async () => (await import('./commands/history.ts')).addHistoryCommand,
  },
  {
    usage: 'why <url>',
    about: 'why a page is or is not due, and which machine visits it: its change history, rate, importance and server',
    load: async () => (await import('./commands/why.ts')).addWhyCommand,
  },
  {
    usage: 'account',
    about: 'bytes spent and avoided, by cause, day and server, with the freshness they bought',
    load: async () => (await import('./commands/account.ts')).addAccountCommand,
  },
  {
    usage: 'ping <urls...>',
    about: 'tell the collection that pages have changed; they are looked at sooner',
    load: async () => (await import('./commands/ping.ts')).addPingCommand,
  },
  {
    usage: 'subscriptions',
    about: 'which sites tell of their changes, how true that has been, leases and last words',
    load: async () => (await import('./commands/subscriptions.ts')).addSubscriptionsCommand,
  },
  {
    usage: 'workbench',
    about: 'serve the workbench of a collection: watch, search, compare, steer what runs',
    load: async () => (await import('./commands/workbench.ts')).addWorkbenchCommand,
  },
  {
    usage: 'serve',
    about: 'a public, read-only search for the readers of a site, with a search box for its pages',
    load: async () => (await import('./commands/serve.ts')).addServeCommand,
  },
  {
    usage: 'steer',
    about: 'steer the Skein that runs in the data directory, from another terminal',
    load: async () => (await import('./commands/steer.ts')).addSteerCommand,
  },
  {
    usage: 'status',
    about: 'the collection at a glance: pages, servers, bytes, what waits',
    load: async () => (await import('./commands/status.ts')).addStatusCommand,
  },
  {
    usage: 'seeds',
    about: 'the URLs that the collection starts from, and taking one back',
    load: async () => (await import('./commands/seeds.ts')).addSeedsCommand,
  },
  {
    usage: 'pages [pattern]',
    about: 'list pages; a pattern matches anywhere in the URL, * stands for anything',
    load: async () => (await import('./commands/pages.ts')).addPagesCommand,
  },
  {
    usage: 'show <url>',
    about: 'everything known of a page, and why it is or is not due',
    load: async () => (await import('./commands/show.ts')).addShowCommand,
  },
  {
    usage: 'cat <url>',
    about: 'print the stored body of a page',
    load: async () => (await import('./commands/cat.ts')).addCatCommand,
  },
  {
    usage: 'links <url>',
    about: 'links of a page, in and out, with their anchor text',
    load: async () => (await import('./commands/links.ts')).addLinksCommand,
  },
  {
    usage: 'extract [pattern]',
    about: 'fields of stored pages as rows: CSS selectors, JSON-LD, microdata, OpenGraph, tables',
    load: async () => (await import('./commands/extract.ts')).addExtractCommand,
  },
  {
    usage: 'export [pattern]',
    about: 'write the collection as one file',
    load: async () => (await import('./commands/export.ts')).addExportCommand,
  },
  {
    usage: 'index',
    about: 'the search index: how far it is, and making it again',
    load: async () => (await import('./commands/search.ts')).addIndexCommand,
  },
  {
    usage: 'verify',
    about: 'check ledger and archive against each other, and every digest',
    load: async () => (await import('./commands/verify.ts')).addVerifyCommand,
  },
  {
    usage: 'forget [targets...]',
    about: 'take pages out for good: copies, versions, index and links; they do not come back',
    load: async () => (await import('./commands/forget.ts')).addForgetCommand,
  },
  {
    usage: 'backup <directory>',
    about: 'copy a collection, also while it is being written; again copies only what is new',
    load: async () => (await import('./commands/backup.ts')).addBackupCommand,
  },
  {
    usage: 'restore <directory>',
    about: 'make a collection of a backup, in a new directory',
    load: async () => (await import('./commands/backup.ts')).addRestoreCommand,
  },
  {
    usage: 'service',
    about: 'keep a collection fresh as a service of systemd: install, uninstall, status',
    load: async () => (await import('./commands/service.ts')).addServiceCommand,
  },
  {
    usage: 'outpost',
    about: 'machines that crawl for another: invite, join, run, install, forgive',
    load: async () => (await import('./commands/outpost.ts')).addOutpostCommand,
  },
  {
    usage: 'outposts',
    about: 'the tree of machines that crawl for this collection',
    load: async () => (await import('./commands/outposts.ts')).addOutpostsCommand,
  },
  {
    usage: 'site [directory]',
    about: 'for the owner of a site: tell crawlers what changed, beside any web server',
    load: async () => (await import('./commands/site.ts')).addSiteCommand,
  },
  {
    usage: 'peers',
    about: 'the machines of a cluster: their shares, pages and lags; asking one to leave',
    load: async () => (await import('./commands/peers.ts')).addPeersCommand,
  },
  {
    usage: 'demo',
    about: 'crawl a small web that the demo itself serves on loopback; needs no internet',
    load: async () => (await import('./commands/demo.ts')).addDemoCommand,
  },
];
