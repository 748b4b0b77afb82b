/** In development this file is TypeScript, in the published package JavaScript; so is the module that threads run. */
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
export const threadModule = new URL(`../../outpost/workers/thread.${ending}`, import.meta.url);
