/**
 * The way to home's door that a pass names. It is home's word, and home may name any address: where the owner keeps
 * private ones closed, they are closed here, too, and what is connected to is the very address that was looked at.
 */
import { lookup } from 'node:dns/promises';
import type { Duplex } from 'node:stream';
import { SkeinError } from '../../base/errors.ts';
import { isPublic } from '../../crawler/fetch/addresses.ts';
import { type Address, dial } from '../../transfer/websocket.ts';

export async function dialHome(address: Address, allowPrivate: boolean): Promise<Duplex> {
  if (allowPrivate) return dial(address);
  const found = await lookup(address.host, { all: true });
  const open = found.find(each => isPublic(each.address));
  if (!open) throw new SkeinError('refused', `A pass names ${address.host}, which is a private address.`);
  return dial({ ...address, host: open.address });
}
