/** Builds the user interface into dist/, which is part of the package: nobody who runs Skein builds anything. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { sourcesDigest } from './digest.ts';

/** Leaves a digest of the sources beside what was made of them. */
const stamp: Plugin = {
  name: 'stamp',
  closeBundle() {
    writeFileSync(join(import.meta.dirname, 'dist', 'sources.sha256'), `${sourcesDigest()}\n`);
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [svelte(), stamp],
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2023', modulePreload: false, assetsInlineLimit: 0 },
  server: { proxy: { '/api': 'http://127.0.0.1:7700', '/copy': 'http://127.0.0.1:7700' } },
});
