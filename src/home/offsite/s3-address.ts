/**
 * Where a bucket is and who asks, found as other S3 programs find it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
 * AWS_SESSION_TOKEN, else the profile AWS_PROFILE of the shared credentials file; AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL;
 * AWS_REGION. Keys stay in this process: nothing of them is printed, or stored with the collection.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.ts';

interface S3Place {
  readonly bucket: string;
  /** Ends with a slash, or is empty. */
  readonly prefix: string;
}

export interface S3Access {
  /** Of the bucket, ends with a slash. */
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** The user named the endpoint: it may be a private address. */
  readonly named: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function parseS3(text: string): S3Place {
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/ -]{0,500}))?$/i.exec(text);
  const parts = (found?.[2] ?? '').split('/').filter(part => part !== '');
  if (!found || parts.some(part => part === '.' || part === '..'))
    throw new SkeinError('bad-option', `${text} is not a place for an archive.`, 'Write it as s3://bucket/prefix.');
  return { bucket: found[1]!, prefix: parts.map(part => `${part}/`).join('') };
}

export function accessTo({ bucket }: S3Place, environment: Environment = process.env): S3Access {
  const shared = profileOf(environment);
  const own = environment['AWS_ACCESS_KEY_ID'] !== undefined;
  const accessKeyId = own ? environment['AWS_ACCESS_KEY_ID'] : shared.get('aws_access_key_id');
  const secretAccessKey = own ? environment['AWS_SECRET_ACCESS_KEY'] : shared.get('aws_secret_access_key');
  const sessionToken = own ? environment['AWS_SESSION_TOKEN'] : shared.get('aws_session_token');
  if (!accessKeyId || !secretAccessKey)
    throw new SkeinError(
      'refused',
      'There are no credentials for S3.',
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ~/.aws/credentials.',
    );
  const region = environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'] ?? shared.get('region') ?? 'us-east-1';
  const endpoint =
    environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL'] ?? shared.get('endpoint_url') ?? '';
  if (endpoint !== '' && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw new SkeinError('bad-option', 'AWS_ENDPOINT_URL is not a web address.', 'Write it as https://s3.example.org.');
  const url =
    endpoint === '' ? `https://s3.${region}.amazonaws.com/${bucket}/` : `${endpoint.replace(/\/+$/, '')}/${bucket}/`;
  return { url, region, accessKeyId, secretAccessKey, sessionToken, named: endpoint !== '' };
}

/** Names and values of the profile in ~/.aws/credentials and ~/.aws/config, the former first. */
function profileOf(environment: Environment): Map<string, string> {
  const profile = environment['AWS_PROFILE'] ?? 'default';
  const home = join(environment['HOME'] ?? homedir(), '.aws');
  const config = sectionsIn(environment['AWS_CONFIG_FILE'] ?? join(home, 'config'));
  const credentials = sectionsIn(environment['AWS_SHARED_CREDENTIALS_FILE'] ?? join(home, 'credentials'));
  const general = config.get(profile === 'default' ? 'default' : `profile ${profile}`);
  return new Map([...(general ?? []), ...(credentials.get(profile) ?? [])]);
}

function sectionsIn(file: string): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split(/\r?\n/) : []) {
    const name = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    const [, key, value] = /^\s*([a-z_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) sections.set(name, (section = sections.get(name) ?? new Map()));
    else if (key !== undefined) section.set(key, value!);
  }
  return sections;
}
