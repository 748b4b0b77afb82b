/**
 * A hostile home. Outposts join it with a token as they join any, and it speaks the real protocol: errands are signed and
 * packed as they should be. What they ask for, and what it says besides, is whatever it likes.
 */
import { join } from 'node:path';
import { DAY, systemClock } from '../../src/base/clock.ts';
import type { Errand } from '../../src/errand/errand.ts';
import { encodeWarrant, issueWarrant } from '../../src/errand/warrant.ts';
import { type JoinOptions, joinParent, StandingOutpost } from '../../src/outpost/standing-outpost.ts';
import { greetOutpost } from '../../src/transfer/entry/greeting.ts';
import { Members } from '../../src/transfer/entry/members.ts';
import type { Line } from '../../src/transfer/line.ts';
import { openDoor } from '../../src/transfer/websocket.ts';
import type { Frame } from '../../src/transfer/wire/frames.ts';
import type { Welcome } from '../../src/transfer/wire/messages.ts';
import { packErrand } from '../../src/transfer/wire/parcel-format.ts';
import { makePlace, makeSpeaker, welcomeOf } from '../transfer/places.ts';

export interface Tyrant extends AsyncDisposable {
  readonly identity: Members['identity'] extends () => infer I ? I : never;
  /** Everything that the outpost said, but for what is of no interest. */
  readonly heard: Frame[];
  readonly outpost: StandingOutpost;
  readonly directory: string;
  /** The errand as a frame, signed for the outpost. */
  frameOf(errand: Errand): Extract<Frame, { kind: 'errand' }>;
  send(frame: Frame): void;
  /** Sends the errand; resolves with `done`, or with why it was given up. */
  run(errand: Errand): Promise<string>;
  /** Until something is true of what was heard. */
  until(holds: () => boolean): Promise<void>;
  /** What the outpost said for people. */
  readonly said: string[];
}

/** A tyrant, and a standing outpost of somebody else's that has joined it with the owner's terms. */
export async function openTyrant(owner: Partial<JoinOptions> = {}, welcome: Partial<Welcome> = {}): Promise<Tyrant> {
  const place = makePlace();
  const members = new Members(join(place.path, 'door'));
  const home = makeSpeaker('tyrant', { identity: members.identity() });
  const heard: Frame[] = [];
  const said: string[] = [];
  const here = Promise.withResolvers<{ line: Line; key: string }>();
  const door = await openDoor({ host: '127.0.0.1', port: 0 }, members.certificate(), async stream => {
    const admit = (hello: Parameters<Members['admit']>[0]) => {
      members.admit(hello, Date.now());
      return { ...welcomeOf(home), ...welcome };
    };
    const { line, hello } = await greetOutpost(stream, home, admit);
    line.listen({ frame: frame => void heard.push(frame), ended: () => {} });
    here.resolve({ line, key: hello.key });
  });
  const token = members.invite({
    ...{ host: '127.0.0.1', port: door.port, expires: Date.now() + DAY, uses: 1, servers: [], quotas: {} },
  });
  const directory = join(place.path, 'outpost');
  joinParent({ directory, token, name: 'victim', servers: [], allowPrivate: true, ...owner }, Date.now());
  const outpost = new StandingOutpost({
    ...{ directory, software: '1.2.3', threads: 1, spoolBytes: 1e8, clock: systemClock, say: text => said.push(text) },
    backOff: { first: 50, longest: 200 },
  });
  const running = outpost.run().catch(() => {}); // refused for good: a test asks what was said
  const reach = async () => {
    const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error(said.join(' '))), 10_000).unref());
    return Promise.race([here.promise, late]);
  };
  const met = Object.keys(welcome).length > 0 ? undefined : await reach();
  const until = async (holds: () => boolean) => {
    for (let i = 0; i < 600 && !holds(); i++) await new Promise(resolve => setTimeout(resolve, 50));
    if (!holds()) throw new Error('it never came to that');
  };
  const frameOf: Tyrant['frameOf'] = errand => {
    const bytes = packErrand(errand);
    const terms = { errand: errand.id, levels: errand.levels, deadline: errand.deadline, bytes };
    const warrant = encodeWarrant(issueWarrant(home.identity, terms, outpost.station.identity.key));
    return { kind: 'errand', errand: errand.id, warrant, bytes };
  };
  const send = (frame: Frame) => void met?.line.send(frame);
  return {
    ...{ identity: home.identity, heard, said, outpost, directory, frameOf, send, until },
    async run(errand) {
      const end = () =>
        heard.find(
          frame =>
            (frame.kind === 'give-up' && frame.errand === errand.id) ||
            (frame.kind === 'parcel' && frame.errand === errand.id && frame.done),
        );
      send(frameOf(errand));
      await until(() => end() !== undefined);
      const frame = end()!;
      return frame.kind === 'give-up' ? frame.why : 'done';
    },
    async [Symbol.asyncDispose]() {
      await outpost.stop();
      await door.close();
      await running;
      place[Symbol.dispose]();
    },
  };
}
