/** What became of members since the last look: another process of the same user limits, approves and revokes them. */
import type { Member, Members } from '../transfer/entry/members.ts';

interface Changed {
  readonly name: string;
  /** Its terms now; undefined = it was revoked. */
  readonly terms: Pick<Member, 'servers' | 'quotas'> | undefined;
}

export class Membership {
  readonly #members: Members;
  #before = new Map<string, string>();

  constructor(members: Members) {
    this.#members = members;
    this.changes();
  }

  /** A member came in under the terms that it has now; returns its name. */
  saw(name: string): string {
    const member = this.#members.all().find(each => each.name === name);
    if (member) this.#before.set(name, textOf(member));
    return name;
  }

  changes(): Changed[] {
    const changed: Changed[] = [];
    const now = new Map<string, string>();
    for (const member of this.#members.all()) {
      const { name, servers, quotas, revoked } = member;
      const before = this.#before.get(name);
      now.set(name, textOf(member));
      if (before === undefined || before === textOf(member)) continue;
      changed.push({ name, terms: revoked ? undefined : { servers, quotas } });
    }
    this.#before = now;
    return changed;
  }
}

function textOf({ servers, quotas, revoked = 0 }: Member): string {
  return JSON.stringify([servers, quotas, revoked]);
}
