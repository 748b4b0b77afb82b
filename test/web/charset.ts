/** Encodes text in the charsets of the old web, by turning the platform's decoders round. */
const tables = new Map<string, Map<string, readonly number[]>>();

/** Bytes of `text`; a character that the charset lacks becomes `?`. */
export function encode(text: string, charset: string): Uint8Array {
  const name = charset.toLowerCase();
  if (name === 'utf-8') return Buffer.from(text);
  if (name === 'utf-16le') return Buffer.from(`\ufeff${text}`, 'utf16le');
  if (name === 'utf-16be') return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
  const table = tableOf(name);
  const bytes: number[] = [];
  for (const character of text) bytes.push(...(table.get(character) ?? [0x3f]));
  return Uint8Array.from(bytes);
}

function tableOf(name: string): Map<string, readonly number[]> {
  const kept = tables.get(name);
  if (kept !== undefined) return kept;
  const decoder = new TextDecoder(name);
  const table = new Map<string, readonly number[]>();
  const learn = (...bytes: number[]): void => {
    const character = decoder.decode(Uint8Array.from(bytes));
    // The first way to write a character is the usual one; two characters are two single bytes.
    if ([...character].length === 1 && character !== '\ufffd' && !table.has(character)) table.set(character, bytes);
  };
  for (let first = 0; first < 256; first++) learn(first);
  if (/^(shift_jis|euc-jp|euc-kr|gbk|gb18030|big5)$/.test(name)) {
    for (let first = 0x81; first < 0xff; first++) for (let second = 0x40; second < 0xff; second++) learn(first, second);
  }
  tables.set(name, table);
  return table;
}
