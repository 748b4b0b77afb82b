/** Loaded before a bench: gives one constant of one module another value. SKEIN_VARIED: `waves.ts ODDS 1 / 500`. */
import { registerHooks } from 'node:module';

const [file, name, ...value] = (process.env['SKEIN_VARIED'] ?? '').split(' ');

if (file && name) {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.includes('/src/') || !url.endsWith(`/${file}`) || !loaded.source) return loaded;
      const text = loaded.source.toString();
      const changed = text.replace(
        new RegExp(`const ${name}(?:: \\w+)? = [^;]+;`),
        `const ${name} = ${value.join(' ')};`,
      );
      if (changed === text) throw new Error(`${file} has no constant ${name}`);
      return { ...loaded, source: changed };
    },
  });
}
