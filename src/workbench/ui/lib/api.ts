/** Talks to the API. Every failure is an Error with a sentence that can be shown. */

export class Problem extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface Refusal {
  readonly code?: string;
  readonly error?: string;
  readonly hint?: string;
}

type Parameters = Readonly<Record<string, string | number | undefined | null>>;

export async function get<T>(path: string, parameters: Parameters = {}): Promise<T> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return answer<T>(await asked(fetch(`/api/v1${path}${text && `?${text}`}`)));
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json', 'x-skein': '1' };
  return answer<T>(await asked(fetch(`/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })));
}

/** Of a request that got no answer a browser says no more than that it failed. */
function asked(request: Promise<Response>): Promise<Response> {
  return request.catch(() => {
    throw new Problem('no-answer', 'The workbench does not answer: the Skein that served this page may have ended.');
  });
}

/** Signs that turn the order of what is written about, so that `exe.png` is read as `gnp.exe`: titles come from anybody. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/** JSON, to be shown. */
export function parsed<T>(text: string): T {
  return JSON.parse(text.replace(TURNING, '')) as T;
}

async function answer<T>(response: Response): Promise<T> {
  const body = await response
    .text()
    .then(parsed<T & Refusal>)
    .catch(() => ({}) as T & Refusal);
  if (response.ok) return body;
  throw new Problem(body.code ?? 'internal', [body.error ?? response.statusText, body.hint].filter(Boolean).join(' '));
}
