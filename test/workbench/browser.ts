/** Chromium as the tests drive it: Debian's, headless, with a profile that goes away, and quiet towards the network. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = places.find(existsSync);

/** For `skip` of a test: why it cannot run here, or false. */
export const noBrowser =
  executablePath === undefined && 'chromium is not installed (scripts/install-debian.sh chromium)';

export interface Browser extends AsyncDisposable {
  readonly context: BrowserContext;
  /** Every request of the browser, wherever to. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export interface Look {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
}

/** Milliseconds for what is waited for to appear, on a busy machine too; less than a test has in all. */
const PATIENCE = 100_000;

export async function openBrowser(look: Look = {}): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'skein-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executablePath!,
    headless: true,
    colorScheme: look.colorScheme ?? 'light',
    viewport: { width: look.width ?? 1440, height: look.height ?? 900 },
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
    ],
  });
  context.setDefaultTimeout(PATIENCE);
  const requests: string[] = [];
  context.on('request', request => requests.push(request.url()));
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { context, requests, close, [Symbol.asyncDispose]: close };
}
