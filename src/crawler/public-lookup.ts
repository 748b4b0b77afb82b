/** Resolves names for requests that may reach public addresses alone. What is dialled is what was checked. */
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublic } from './fetch/addresses.ts';

export const publicLookup: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, '', 0);
    const open = addresses.filter(({ address }) => isPublic(address));
    if (open.length === 0) return done(new Error('its address is private'), '', 0);
    if (options.all) return done(null, open);
    done(null, open[0]!.address, open[0]!.family);
  });
};
