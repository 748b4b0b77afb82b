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
    about: 'crawl sites; run it again to resume',
    load: async () => (await import('./commands/crawl.ts')).addCrawlCommand,
  },
  {
    usage: 'refresh',
    about: 'check the pages that are due once, within the budget',
    load: async () => (await import('./commands/refresh.ts')).addRefreshCommand,
  },
  {
    usage: 'watch',
    about: 'keep the collection fresh until stopped, within the budget',
    load: async () => (await import('./commands/refresh.ts')).addWatchCommand,
  },
  {
    usage: 'search <query...>',
    about: 'search the stored pages; updates the index first',
    load: async () => (await import('./commands/search.ts')).addSearchCommand,
  },
  {
    usage: 'changes [pattern]',
    about: 'list changes: when, how much, and how they were detected',
    load: async () => (await import('./commands/changes.ts')).addChangesCommand,
  },
  {
    usage: 'notify',
    about: 'send changes by webhook, mail, command or feed, by your own rules',
    load: async () => (await import('./commands/notify.ts')).addNotifyCommand,
  },
  {
    usage: 'report',
    about: 'find broken links, redirects, bad titles, duplicates and orphans; show the site structure',
    load: async () => (await import('./commands/report.ts')).addReportCommand,
  },
  {
    usage: 'diff <url>',
    about: 'compare two stored versions of a page, word by word',
    load: async () => (await import('./commands/diff.ts')).addDiffCommand,
  },
  {
    usage: 'history <url>',
    about: 'list every visit to a page with its result',
    load: async () => (await import('./commands/history.ts')).addHistoryCommand,
  },
  {
    usage: 'why <url>',
    about: 'explain when a page is checked next: change history, rate, importance, server, machine',
    load: async () => (await import('./commands/why.ts')).addWhyCommand,
  },
  {
    usage: 'account',
    about: 'show bytes spent and avoided by cause, day and server, and the freshness they bought',
    load: async () => (await import('./commands/account.ts')).addAccountCommand,
  },
  {
    usage: 'ping <urls...>',
    about: 'report that pages have changed, so that they are checked sooner',
    load: async () => (await import('./commands/ping.ts')).addPingCommand,
  },
  {
    usage: 'subscriptions',
    about: 'list the sites that announce their changes, and how accurate they are',
    load: async () => (await import('./commands/subscriptions.ts')).addSubscriptionsCommand,
  },
  {
    usage: 'workbench',
    about: 'serve the workbench of a collection: watch, search, compare, steer a run',
    load: async () => (await import('./commands/workbench.ts')).addWorkbenchCommand,
  },
  {
    usage: 'serve',
    about: 'serve a public, read-only search and a search box for web pages',
    load: async () => (await import('./commands/serve.ts')).addServeCommand,
  },
  {
    usage: 'steer',
    about: 'control the running Skein from another terminal',
    load: async () => (await import('./commands/steer.ts')).addSteerCommand,
  },
  {
    usage: 'status',
    about: 'show the collection at a glance: pages, servers, bytes, queue',
    load: async () => (await import('./commands/status.ts')).addStatusCommand,
  },
  {
    usage: 'seeds',
    about: 'list or remove the URLs that the collection starts from',
    load: async () => (await import('./commands/seeds.ts')).addSeedsCommand,
  },
  {
    usage: 'pages [pattern]',
    about: 'list pages; a pattern matches anywhere in the URL, * matches anything',
    load: async () => (await import('./commands/pages.ts')).addPagesCommand,
  },
  {
    usage: 'show <url>',
    about: 'show everything known about a page',
    load: async () => (await import('./commands/show.ts')).addShowCommand,
  },
  {
    usage: 'cat <url>',
    about: 'print the stored body of a page',
    load: async () => (await import('./commands/cat.ts')).addCatCommand,
  },
  {
    usage: 'links <url>',
    about: 'list the links to and from a page, with their anchor text',
    load: async () => (await import('./commands/links.ts')).addLinksCommand,
  },
  {
    usage: 'extract [pattern]',
    about: 'extract fields of stored pages as rows: CSS selectors, JSON-LD, microdata, OpenGraph, tables',
    load: async () => (await import('./commands/extract.ts')).addExtractCommand,
  },
  {
    usage: 'export [pattern]',
    about: 'export the collection as one file',
    load: async () => (await import('./commands/export.ts')).addExportCommand,
  },
  {
    usage: 'index',
    about: 'show or rebuild the search index',
    load: async () => (await import('./commands/search.ts')).addIndexCommand,
  },
  {
    usage: 'verify',
    about: 'check the ledger, the archive and every digest',
    load: async () => (await import('./commands/verify.ts')).addVerifyCommand,
  },
  {
    usage: 'forget [targets...]',
    about: 'delete pages for good: copies, versions, index and links; later crawls skip them',
    load: async () => (await import('./commands/forget.ts')).addForgetCommand,
  },
  {
    usage: 'backup <directory>',
    about: 'back up a collection, even during a crawl; later backups copy only what is new',
    load: async () => (await import('./commands/backup.ts')).addBackupCommand,
  },
  {
    usage: 'restore <directory>',
    about: 'restore a backup into a new directory',
    load: async () => (await import('./commands/backup.ts')).addRestoreCommand,
  },
  {
    usage: 'service',
    about: 'keep a collection fresh as a systemd service: install, uninstall, status',
    load: async () => (await import('./commands/service.ts')).addServiceCommand,
  },
  {
    usage: 'outpost',
    about: 'set up machines that crawl for another: invite, join, run, install, forgive',
    load: async () => (await import('./commands/outpost.ts')).addOutpostCommand,
  },
  {
    usage: 'outposts',
    about: 'show the machines that crawl for this collection, as a tree',
    load: async () => (await import('./commands/outposts.ts')).addOutpostsCommand,
  },
  {
    usage: 'site [directory]',
    about: 'for site owners: tell crawlers what changed, beside any web server',
    load: async () => (await import('./commands/site.ts')).addSiteCommand,
  },
  {
    usage: 'peers',
    about: 'list the machines of a cluster with shares, pages and lag; ask one to leave',
    load: async () => (await import('./commands/peers.ts')).addPeersCommand,
  },
  {
    usage: 'demo',
    about: 'crawl a small web that the demo serves on loopback; needs no internet',
    load: async () => (await import('./commands/demo.ts')).addDemoCommand,
  },
];
