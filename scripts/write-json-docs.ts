/** Writes docs/json.md from the schemas of what --json prints. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { document } from '../src/cli/print/schemas.ts';

writeFileSync(join(import.meta.dirname, '..', 'docs', 'json.md'), document());
