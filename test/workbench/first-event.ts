/** The first of the events by which a workbench tells its live numbers, as it came. */
export async function firstEvent(origin: string): Promise<string> {
  const stop = new AbortController();
  const response = await fetch(`${origin}/api/v1/live`, { signal: stop.signal });
  let text = '';
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk).toString();
    if (text.includes('\n\n')) break;
  }
  stop.abort();
  return text;
}
